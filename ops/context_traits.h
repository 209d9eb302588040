#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/attrs.h"
#include "tensor/format.h"
#include "tensor/tensor.h"

namespace opbench {

struct Problem;

/// The framework's rules that the tuning record changes.
struct FrameworkRules {
  enum class Contiguous { native, gather_v2 };
  enum class Index { generated, cached };

  bool concat_output_nchw = false;  ///< else its output follows the format of its first input
  bool axpy_equal_shapes = false;   ///< equal shapes end the check that casts to 4D
  bool relu_grad_cast = false;      ///< the gradient is cast to the format of the forward output
  bool dwconv_output_5hd = false;   ///< else a depthwise convolution's output is NCHW
  bool weight_format_init = false;  ///< parameters are stored as the kernels want them
  bool grad_cast_once = false;      ///< IndexSelectFull's backward casts its gradient once
  bool allow_fp32_to_fp16 = true;   ///< Cast around cube operators, which have fp16 only
  Contiguous contiguous = Contiguous::native;  ///< how views are made dense
  Index index = Index::cached;                 ///< made by every call, or once and kept

  bool operator==(const FrameworkRules&) const = default;
};

/// A storage format, and why it is that one: "relu_grad: the output follows the forward output".
struct FormatChoice {
  Format format;
  std::string why;
};

/// A use of an operator whose storage formats are being chosen.
struct FormatQuery {
  const Problem& problem;
  std::span<const TensorDesc> given;  ///< the inputs as they arrive, before conversions
  const FrameworkRules& rules;
  bool is_on_device;  ///< a kernel of the device computes it, not the framework
};

/// What the framework chooses; none: as for any operator.
using FormatRule = std::optional<FormatChoice> (*)(const FormatQuery& query);

/// Operators that only change how values are stored, or in which dtype.
enum class Conversion { none, format, dtype };

/// Whether an operator makes views dense, copies that a rewrite would spare: `in_framework` only
/// where the framework computes it, which it does unless another variant is asked for.
enum class ViewCopies { no, in_framework, always };

/// An argument of a call that a composite operator is written as.
struct ComposedArg {
  enum Source {
    input,     ///< input `number` of the composite operator
    result,    ///< the first output of call `number`
    constant,  ///< an index: the numbers of `index`
  } source;
  std::size_t number = 0;
  std::vector<std::int64_t> index = {};
  bool as_zeros = false;  ///< instead of the tensor itself, zeros of its shape
};

/// One of the calls, in execution order, that a composite operator is written as.
struct ComposedCall {
  std::string_view op;
  std::vector<ComposedArg> args;
  Attrs attrs;
  std::string name;                        ///< added to the operator's: "concat"
  std::optional<std::size_t> output = {};  ///< the operator's output that its first one is
  bool shares_conversions = false;         ///< with the other calls that say so
};

/// How a context plans, names and verifies uses of an operator, where not as any other. What
/// stays at its default is what most operators do.
struct ContextTraits {
  /// Its task in a profile, where the name in camel case is another: "InplaceIndexAdd".
  std::string_view device_name = {};

  /// The variants to try where a step names none; null: those of the device, then of the framework.
  std::vector<std::string> (*variants)(const FrameworkRules& rules) = nullptr;
  ViewCopies view_copies = ViewCopies::no;

  /// Computed in the device's cube unit, which takes fp16 only: cast to fp16 by mixed precision
  /// (O1), and by the engine with allow_fp32_to_fp16.
  bool uses_cube = false;
  /// The first of the two inputs whose product that is.
  std::size_t first_operand = 0;
  /// Mixed precision (O1) computes it in fp32: its sums or exponentials leave the range of fp16.
  bool needs_fp32 = false;

  /// The format in which inputs are wanted first; none: that of the first input with a rank.
  FormatRule input_format = nullptr;
  /// The format in which outputs are left; none: that of the first input where the ranks are equal
  /// and it follows the case's dtype, else as the kernel writes it.
  FormatRule output_format = nullptr;
  /// The input whose format the inputs follow without an `input_format`.
  std::size_t leading_input = 0;
  /// Inputs are taken as they are stored, each in a format of its own.
  bool takes_any_storage = false;
  /// Empty if the engine computes the problem in its formats, else why not.
  std::string (*engine_refusal)(const Problem& problem, const FrameworkRules& rules) = nullptr;
  /// True where weight_format_init leaves the parameters of a use as they are.
  bool (*keeps_parameters)(const Attrs& attrs) = nullptr;

  Conversion conversion = Conversion::none;
  /// y = factor * x, element by element in the same order: the first output is the first input
  /// under another name, dtype or shape. Null: the values are others.
  double (*factor)(const Attrs& attrs) = nullptr;
  /// The first output is a flag (fp32) that is also raised where an earlier operator of the step
  /// has overflowed, as the device's status register tells.
  bool reads_overflow_status = false;

  /// Variants that a context writes out as calls of other operators; others stay one operator.
  std::vector<std::string_view> forms = {};
  /// The calls that make up `problem` in one of the forms.
  std::vector<ComposedCall> (*compose)(const Problem& problem, std::string_view form) = nullptr;
  /// The operator whose variant it takes where a step states none for it: a gradient's forward
  /// operator.
  std::string_view variant_of = {};
};

/// The `factor` of operators that hand values on as they are.
inline double unchanged(const Attrs&) { return 1; }

}  // namespace opbench
