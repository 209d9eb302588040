#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/attrs.h"
#include "ops/context_traits.h"
#include "ops/known_as.h"
#include "tensor/elements.h"
#include "tensor/fill.h"
#include "tensor/registered.h"
#include "tensor/tensor.h"

namespace opbench {

struct Op;

/// One use of an operator: its inputs, outputs and attributes.
struct Problem {
  const Op* op = nullptr;
  std::vector<TensorDesc> inputs;
  std::vector<TensorDesc> outputs;
  Attrs attrs;
};

/// A named input or output. `ir_path` is its name in a dump if it differs ("grads/grads_0" for a
/// backward operator).
struct TensorSpec {
  std::string_view name;
  std::string_view ir_path = name;
  /// Element types of an input that does not follow the case's dtype, the usual one first: int64
  /// and int32 for an index. Such inputs have plain storage, unless `formats` lists more, and get
  /// no corner values. Empty: the case's dtype.
  std::vector<DType> dtypes = {};
  /// Suitable values of an input, if normal(0,1) is not.
  Distribution (*data)(const Problem& problem) = nullptr;
  /// Storage formats of an input, if the operator's list does not fit, the usual one first:
  /// FRACTAL_Z for a weight with activations in NC1HWC0. The case's format is used if it is listed,
  /// else the first, unless `adapt_inputs` sets another. Empty: the operator's list.
  std::vector<Format> formats = {};
  /// False for an output that no gradient passes through: running statistics.
  bool differentiable = true;

  bool has_own_dtype() const { return !dtypes.empty(); }
};

/// The comparison of outputs: `exact` bit for bit, including NaN payloads (data movement);
/// `exact_value` bit for bit, but all NaN are equal (conversions); `rounded` by a tolerance.
enum class AccuracyClass { exact, exact_value, rounded };

/// The bytes and operations of one call, for GB/s, GFLOP/s and the roofline. Bytes count the
/// storage, padding included, each tensor once.
struct Traffic {
  double bytes_read = 0;
  double bytes_written = 0;
  double operations = 0;

  double bytes() const { return bytes_read + bytes_written; }
};

/// Reads an input in logical order, as fp64 or unchanged.
class InputReader {
 public:
  InputReader(const TensorDesc& desc, const void* storage) : desc_(&desc), storage_(storage) {}
  const TensorDesc& desc() const { return *desc_; }
  const void* storage() const { return storage_; }
  void read(ElementRange range, std::span<double> to) const {
    read_doubles(*desc_, storage_, range, to);
  }
  void read_bits(ElementRange range, void* to) const { read_elements(*desc_, storage_, range, to); }
  /// All elements in fp64.
  std::vector<double> read_all() const;
  /// All elements of an index, as int64.
  std::vector<std::int64_t> read_index() const;

 private:
  const TensorDesc* desc_;
  const void* storage_;
};

/// The reference on demand: logical elements `range` of output `output`, in fp64, not rounded. May
/// be called from several threads at once.
using Reference = std::function<void(std::size_t output, ElementRange range, std::span<double> to)>;

/// The reference of exact operators: the elements as stored.
using ExactReference = std::function<void(std::size_t output, ElementRange range, void* to)>;

/// The error bound of an operator, for each element of the output: the size of its intermediate
/// results in fp64, to which rounding errors are relative.
struct Terms {
  /// The change of the output if every intermediate result changes by as much as itself, up or
  /// down. For a sum it is the sum of the magnitudes of its terms. At least the magnitude of the
  /// output is used.
  Reference magnitude = nullptr;
  /// The greatest intermediate result, in the least favourable order of operations. If it leaves
  /// the range of the dtype, a correct variant may return Inf or NaN. Null: it does not exceed the
  /// output.
  Reference greatest = nullptr;
  /// The exact result before it is rounded to a step of a quantised output, and the value that is
  /// stored for such a result. `magnitude` is that of the former.
  Reference unrounded = nullptr;
  std::function<double(double unrounded)> stored = nullptr;
};

/// The source of an argument of a gradient operator, in terms of the forward operator.
struct GradientArg {
  enum Source { output_gradient, input, output, zeros_like_input } source;
  std::size_t index = 0;
};

/// A call of an operator that returns gradients: outputs 0, 1, ... are the gradients of the forward
/// operator's inputs `of_inputs[0]`, `of_inputs[1]`, ... For softplus it is
/// softplus_grad(output_gradient 0, input 0), of input 0. Without an operator, the gradient is the
/// first argument.
struct GradientCall {
  std::string_view op;
  std::vector<GradientArg> args;
  std::vector<std::size_t> of_inputs = {0};
  Attrs attrs = {};  ///< empty: the attributes of the forward operator that `op` declares
};

/// The dependence of an output element on the elements of the inputs.
enum class Mixing {
  none,  ///< on one element of each input, or on a few
  /// It is a sum or mean of many terms. Each term is a coefficient, which depends on attributes,
  /// indices and shapes only, times at most one element of every input.
  sums,
  other,  ///< on many elements in another way, like softmax
};

/// The meaning of an output of indices: each is a place along a line of the first input. Input and
/// output are `outer` lines of `extent` or `places` elements, `inner` apart.
struct IndexedLines {
  std::int64_t outer = 1, extent = 1, places = 1, inner = 1;
  bool are_distinct = false;  ///< no place of a line occurs twice
};

/// The definition of an operator; a Kernel computes it.
struct Op {
  std::string_view name;     ///< on the command line: "softplus"
  std::string_view ir_name;  ///< in the framework's dumper: "SoftplusBackward"
  std::string_view summary;  ///< one line with the formula
  std::string_view source;
  KnownAs known_as = {};  ///< names in other programs
  std::vector<TensorSpec> inputs;
  /// If the problem determines the number of outputs, further outputs are named like the last.
  std::vector<TensorSpec> outputs;
  bool variadic = false;  ///< any number of inputs, at least one, all like the only one listed
  /// The number of last inputs that are optional, such as a bias. They may be left out at the end;
  /// before a given one, shape [0] stands for an input that is not given (`is_given`).
  std::size_t optional_inputs = 0;
  std::vector<AttrSpec> attrs = {};
  std::vector<DType> dtypes;    ///< of the case: the dtype of all inputs without their own
  std::vector<Format> formats;  ///< of the storage
  AccuracyClass accuracy = AccuracyClass::rounded;

  /// Returns the descriptions of the outputs. The only check of shapes: throws Error that names the
  /// operator, the input and the rule.
  std::vector<TensorDesc> (*infer)(std::span<const TensorDesc> inputs, const Attrs& attrs);
  /// The reference in fp64 from the inputs as rounded to their dtype. `inputs` outlive the result.
  Reference (*reference)(std::span<const InputReader> inputs, const Attrs& attrs) = nullptr;
  /// Replaces `reference` for exact operators. In addition to `reference` it is that of integer
  /// dtypes (`is_exact`).
  ExactReference (*exact_reference)(std::span<const InputReader> inputs,
                                    const Attrs& attrs) = nullptr;
  /// The terms to which rounding errors are relative; `inputs` outlive the result. Null: terms_of
  /// computes them numerically, which takes longer. Required for `Mixing::other`.
  Terms (*terms)(std::span<const InputReader> inputs, const Attrs& attrs) = nullptr;
  /// Describes an output of indices into the first input, where any of several equal elements is a
  /// correct result. Empty for other outputs; null: the operator has no such output.
  std::optional<IndexedLines> (*indexed)(const Problem& problem, std::size_t output) = nullptr;
  Traffic (*traffic)(const Problem& problem);
  /// Null: not differentiable. May throw Error if this use of the operator is not differentiable.
  std::vector<GradientCall> (*gradient)(const Problem& forward) = nullptr;
  /// The input shapes for a single shape of the user (--shapes). Null: every input has that shape.
  std::vector<Dims> (*inputs_like)(const Dims& shape, const Attrs& attrs) = nullptr;
  /// Sets the storage of inputs for these attributes, if the format alone does not determine it
  /// (C0, groups).
  void (*adapt_inputs)(std::span<TensorDesc> inputs, const Attrs& attrs) = nullptr;
  /// Checks the values of inputs: an index must be inside its axis. Throws Error that names the
  /// value, its position and the rule.
  void (*check_values)(const Problem& problem, std::span<const InputReader> inputs) = nullptr;
  /// Values at which implementations fail, mixed into the verification data of every input. Special
  /// values (NaN, Inf, zeros, subnormals, extremes of the dtype) are added for all operators.
  std::vector<double> (*corner_points)(const Attrs& attrs, DType dtype) = nullptr;
  Mixing mixing = Mixing::none;
  /// Output 0 is input 0 plus a change that may be much smaller: a step of an optimizer.
  bool adds_to_first = false;
  /// Correct variants hold intermediate results in fp32 if the dtype is narrower.
  bool holds_fp32 = false;
  /// Intermediate results are exponentials or logarithms, which fast variants compute with
  /// polynomials.
  bool takes_functions = false;
  /// Inputs that follow the case's dtype may have different floating dtypes if the case states
  /// them; `infer` promotes them (ops/elementwise.h).
  bool promotes = false;
  /// Outputs of one byte are steps of a quantised result: right if they are stored for a result
  /// within the error bound of the exact one. `terms` states `unrounded` and `stored`.
  bool quantises = false;
  ContextTraits context = {};  ///< for planning in a context

  std::string key() const { return std::string(name); }
  /// True if an output element depends on many input elements: one NaN or Inf would hide all
  /// others, so corner values stay finite.
  bool mixes_elements() const { return mixing != Mixing::none; }
  /// True for an output that is a step of a quantised result.
  bool is_quantised(DType output) const { return quantises && size_of(output) == 1; }
  /// The specification of input `i` of a use: "x", or "x0", "x1", ... of a repeated input.
  const TensorSpec& input(std::size_t i) const { return inputs[std::min(i, inputs.size() - 1)]; }
  /// The specification of output `i`.
  const TensorSpec& output(std::size_t i) const { return outputs[std::min(i, outputs.size() - 1)]; }
  std::string input_name(std::size_t i) const;
  std::string input_path(std::size_t i) const;
  std::string output_name(const Problem& problem, std::size_t i) const;
  std::string output_path(const Problem& problem, std::size_t i) const;
};

using RegisteredOp = Registered<Op>;

/// True if optional input `i` is given: neither left out nor of shape [0].
inline bool is_given(std::span<const TensorDesc> inputs, std::size_t i) {
  return i < inputs.size() && inputs[i].shape != Dims{0};
}
inline bool is_given(std::span<const InputReader> inputs, std::size_t i) {
  return i < inputs.size() && inputs[i].desc().shape != Dims{0};
}

/// True if the outputs have to be equal: those of an exact operator, or integers that a rounded
/// operator makes of integers.
bool is_exact(const Problem& problem);

/// The operator `name`. Errors: throws Error that suggests the nearest name.
const Op& find_op(std::string_view name);

/// The descriptions of the readers' tensors.
std::vector<TensorDesc> descs_of(std::span<const InputReader> inputs);

/// The data of input `i` of a problem if the case states no data: the operator's choice, else
/// normal(0,1), or whole numbers for integer dtypes.
Distribution default_data(const Problem& problem, std::size_t i);

/// The input shapes for a single shape: by the operator's rule, or that shape for each input.
std::vector<Dims> shapes_like(const Op& op, const Dims& shape, const Attrs& attrs);

/// Errors: throws Error unless the operator takes `found` inputs.
void check_input_count(const Op& op, std::size_t found);

/// Descriptions of inputs of a case: `shapes[i]` with the case's dtype and format, or with those
/// that the operator states for that input. `dtypes[i]`, which is optional, selects one of an
/// input's own dtypes.
std::vector<TensorDesc> describe_inputs(const Op& op, std::span<const Dims> shapes, DType dtype,
                                        Format format, const Attrs& attrs,
                                        std::span<const std::optional<DType>> dtypes = {});

/// Checks the inputs and attributes of a use and infers its outputs. Errors: throws Error that
/// names the operator, what was found and what is allowed.
Problem make_problem(const Op& op, std::vector<TensorDesc> inputs, Attrs attrs);

/// NaN, +-Inf, +-0, the smallest and largest subnormals, normals and extremes of `dtype`, then the
/// operator's corner points, each rounded to `dtype`.
std::vector<double> corner_values(const Problem& problem);

}  // namespace opbench
