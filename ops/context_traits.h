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

  bool concat_output_nchw = false;  ///< else the output follows the format of the first input
  bool axpy_equal_shapes = false;   ///< equal shapes end the check that casts to 4D
  bool relu_grad_cast = false;      ///< the gradient is cast to the format of the forward output
  bool dwconv_output_5hd = false;   ///< else a depthwise convolution's output is NCHW
  bool weight_format_init = false;  ///< parameters are stored in the format of their kernels
  bool grad_cast_once = false;      ///< IndexSelectFull's backward casts its gradient once
  bool allow_fp32_to_fp16 = true;   ///< Cast around cube operators, which take fp16 only
  Contiguous contiguous = Contiguous::native;  ///< the way to make views dense
  Index index = Index::cached;                 ///< made by every call, or once and kept

  bool operator==(const FrameworkRules&) const = default;
};

/// A storage format and its reason: "relu_grad: the output follows the forward output".
struct FormatChoice {
  Format format;
  std::string why;
};

/// A use of an operator during the choice of its storage formats.
struct FormatQuery {
  const Problem& problem;
  std::span<const TensorDesc> given;  ///< the inputs as they arrive, before conversions
  const FrameworkRules& rules;
  bool is_on_device;  ///< a kernel of the device computes it, not the framework
};

/// The choice of the framework; empty: the rule of all operators.
using FormatRule = std::optional<FormatChoice> (*)(const FormatQuery& query);

/// Operators that only change the storage or the dtype of values.
enum class Conversion { none, format, dtype };

/// States if an operator makes views dense, with copies that a rewrite would save. `in_framework`:
/// only if the framework computes it, which is the default variant.
enum class ViewCopies { no, in_framework, always };

/// An argument of a call in the decomposition of a composite operator.
struct ComposedArg {
  enum Source {
    input,     ///< input `number` of the composite operator
    result,    ///< the first output of call `number`
    constant,  ///< an index: the numbers of `index`
  } source;
  std::size_t number = 0;
  std::vector<std::int64_t> index = {};
  bool as_zeros = false;  ///< zeros of the tensor's shape instead of the tensor
};

/// One of the calls, in execution order, that replace a composite operator.
struct ComposedCall {
  std::string_view op;
  std::vector<ComposedArg> args;
  Attrs attrs;
  std::string name;                        ///< appended to the operator's name: "concat"
  std::optional<std::size_t> output = {};  ///< the operator's output that is the first output of
                                           ///< this call
  bool shares_conversions = false;         ///< with the other calls that set this flag
};

/// The deviations from the usual planning, naming and verification of an operator in a context. The
/// defaults are right for most operators.
struct ContextTraits {
  /// The task name in a profile, if it is not the operator's name in camel case: "InplaceIndexAdd".
  std::string_view device_name = {};

  /// The variants to try if a step names no variant; null: those of the device, then of the
  /// framework.
  std::vector<std::string> (*variants)(const FrameworkRules& rules) = nullptr;
  ViewCopies view_copies = ViewCopies::no;

  /// Computed in the device's cube unit, which takes fp16 only. Mixed precision (O1) casts it to
  /// fp16; so does the engine with allow_fp32_to_fp16.
  bool uses_cube = false;
  /// The first of the two inputs that the cube unit multiplies.
  std::size_t first_operand = 0;
  /// Mixed precision (O1) computes it in fp32, because its sums or exponentials leave the range of
  /// fp16.
  bool needs_fp32 = false;

  /// The preferred format of inputs; null: that of the first input with a rank.
  FormatRule input_format = nullptr;
  /// The format of outputs. Null: that of the first input if the ranks are equal and the output
  /// follows the case's dtype, else the format that the kernel writes.
  FormatRule output_format = nullptr;
  /// The input that determines the format of all inputs without an `input_format`.
  std::size_t leading_input = 0;
  /// Every input keeps its own storage.
  bool takes_any_storage = false;
  /// Empty if the engine computes the problem in its formats, else the reason of the refusal.
  std::string (*engine_refusal)(const Problem& problem, const FrameworkRules& rules) = nullptr;
  /// True if weight_format_init does not change the parameters of a use.
  bool (*keeps_parameters)(const Attrs& attrs) = nullptr;

  Conversion conversion = Conversion::none;
  /// y = factor * x, element by element in the same order: the first output is the first input
  /// under another name, dtype or shape. Null: the operator computes other values.
  double (*factor)(const Attrs& attrs) = nullptr;
  /// The first output is a flag (fp32). It is also set if an earlier operator of the step has
  /// overflowed, like the device's status register.
  bool reads_overflow_status = false;

  /// Variants that a context replaces with calls of other operators; other variants stay one
  /// operator.
  std::vector<std::string_view> forms = {};
  /// The calls that replace `problem` in one of the forms.
  std::vector<ComposedCall> (*compose)(const Problem& problem, std::string_view form) = nullptr;
  /// The operator that provides the variant if a step states no variant: a gradient's forward
  /// operator.
  std::string_view variant_of = {};
};

/// The `factor` of operators that pass values on unchanged.
inline double unchanged(const Attrs&) { return 1; }

}  // namespace opbench
