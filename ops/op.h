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

/// One use of an operator: what goes in, what comes out, under which attributes.
struct Problem {
  const Op* op = nullptr;
  std::vector<TensorDesc> inputs;
  std::vector<TensorDesc> outputs;
  Attrs attrs;
};

/// A named input or output. `ir_path` is its place in a dump where that differs from the name
/// ("grads/grads_0" for a backward operator).
struct TensorSpec {
  std::string_view name;
  std::string_view ir_path = name;
  /// Element types of an input that does not follow the case's dtype, the usual one first: int64
  /// and int32 for an index. Such inputs are stored plainly, unless `formats` has more, and get no
  /// corner values. Empty: the case's.
  std::vector<DType> dtypes = {};
  /// Values that make sense for an input, where normal(0,1) does not.
  Distribution (*data)(const Problem& problem) = nullptr;
  /// Storage formats of an input that the operator's list does not fit, the usual one first:
  /// FRACTAL_Z for a weight beside activations in NC1HWC0. The case's format where it is among
  /// them, else the first, unless `adapt_inputs` knows better. Empty: the operator's.
  std::vector<Format> formats = {};
  /// False for an output that no gradient passes through: running statistics.
  bool differentiable = true;

  bool has_own_dtype() const { return !dtypes.empty(); }
};

/// How outputs are judged: `exact` bit for bit, NaN payloads too (data movement); `exact_value` the
/// same, but a NaN is a NaN (conversions); `rounded` by a tolerance.
enum class AccuracyClass { exact, exact_value, rounded };

/// What one call moves and computes, for GB/s, GFLOP/s and the roofline. Bytes count the storage,
/// padding included, each tensor once.
struct Traffic {
  double bytes_read = 0;
  double bytes_written = 0;
  double operations = 0;

  double bytes() const { return bytes_read + bytes_written; }
};

/// Reads an input in logical order, as fp64 or as it is.
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

/// Golden values on demand: logical elements `range` of output `output`, in fp64, not rounded. May
/// be called from several threads at once.
using Reference = std::function<void(std::size_t output, ElementRange range, std::span<double> to)>;

/// The same for exact operators: the elements as stored.
using ExactReference = std::function<void(std::size_t output, ElementRange range, void* to)>;

/// The size of the intermediate results of an operator, for each element of the output, in fp64:
/// rounding errors are relative to it.
struct Terms {
  /// How much the output changes if every intermediate result changes by as much as itself, one way
  /// or the other: of a sum the magnitudes of what it adds up. What is less than the output counts
  /// as much as this.
  Reference magnitude = nullptr;
  /// The greatest intermediate result, in the order of operations where it is greatest. Where it
  /// leaves the dtype, an honest kernel may give Inf or NaN. Null: none is greater than the output.
  Reference greatest = nullptr;
};

/// Where an argument of a gradient operator comes from, in terms of the forward operator.
struct GradientArg {
  enum Source { output_gradient, input, output, zeros_like_input } source;
  std::size_t index = 0;
};

/// A call of an operator whose outputs 0, 1, ... are the gradients of the forward operator's inputs
/// `of_inputs[0]`, `of_inputs[1]`, ...: softplus' is softplus_grad(output_gradient 0, input 0), of
/// input 0. Without an operator, the gradient is the first argument itself.
struct GradientCall {
  std::string_view op;
  std::vector<GradientArg> args;
  std::vector<std::size_t> of_inputs = {0};
  Attrs attrs = {};  ///< empty: those of the forward operator that `op` declares
};

/// How an output element depends on the elements of the inputs.
enum class Mixing {
  none,  ///< on one of each input, or on a few
  /// It is a sum of many terms, or their mean: each is a coefficient, which only attributes,
  /// indices and shapes tell, times at most one element of every input.
  sums,
  other,  ///< on many in another way, as softmax does
};

/// How an output of indices counts: each is a place along a line of the first input. Input and
/// output are `outer` lines of `extent` or `places` elements, `inner` apart.
struct IndexedLines {
  std::int64_t outer = 1, extent = 1, places = 1, inner = 1;
  bool are_distinct = false;  ///< no place of a line is named twice
};

/// What an operator is; how it is computed is a Kernel's business.
struct Op {
  std::string_view name;     ///< as on the command line: "softplus"
  std::string_view ir_name;  ///< as the framework's dumper spells it: "SoftplusBackward"
  std::string_view summary;  ///< one line with the formula
  std::string_view source;
  KnownAs known_as = {};  ///< elsewhere
  std::vector<TensorSpec> inputs;
  /// The number of outputs may follow from the problem: further ones are named as the last.
  std::vector<TensorSpec> outputs;
  bool variadic = false;  ///< any number of inputs, from one on, all as the only one listed
  std::size_t optional_inputs = 0;  ///< so many of the last inputs may be left out: a bias
  std::vector<AttrSpec> attrs = {};
  std::vector<DType> dtypes;    ///< of the case, which all inputs share but those with their own
  std::vector<Format> formats;  ///< of the storage
  AccuracyClass accuracy = AccuracyClass::rounded;

  /// Output descriptions. The only check of shapes: throws Error that names the operator, the input
  /// and the rule.
  std::vector<TensorDesc> (*infer)(std::span<const TensorDesc> inputs, const Attrs& attrs);
  /// Golden values in fp64 from the inputs as rounded to their dtype. `inputs` outlive the result.
  Reference (*reference)(std::span<const InputReader> inputs, const Attrs& attrs) = nullptr;
  /// Instead of `reference`, for exact operators.
  ExactReference (*exact_reference)(std::span<const InputReader> inputs,
                                    const Attrs& attrs) = nullptr;
  /// The terms to which rounding errors are relative; `inputs` outlive the result. Null: they are
  /// found (see terms_of), which takes longer. Required of `Mixing::other`.
  Terms (*terms)(std::span<const InputReader> inputs, const Attrs& attrs) = nullptr;
  /// Of an output of indices into the first input, where which of equal elements is named is
  /// nobody's fault. None for outputs of other kinds; null: the operator has none.
  std::optional<IndexedLines> (*indexed)(const Problem& problem, std::size_t output) = nullptr;
  Traffic (*traffic)(const Problem& problem);
  /// Null: not differentiable. May throw Error where a use of the operator is not.
  std::vector<GradientCall> (*gradient)(const Problem& forward) = nullptr;
  /// The input shapes that a user means who gives one shape only (--shapes). Null: the same for
  /// each.
  std::vector<Dims> (*inputs_like)(const Dims& shape, const Attrs& attrs) = nullptr;
  /// How inputs are stored under these attributes, where the format alone does not tell (C0,
  /// groups).
  void (*adapt_inputs)(std::span<TensorDesc> inputs, const Attrs& attrs) = nullptr;
  /// Rules for the values of inputs: an index inside its axis. Throws Error that names the value,
  /// its position and the rule.
  void (*check_values)(const Problem& problem, std::span<const InputReader> inputs) = nullptr;
  /// Values where implementations go wrong, mixed into verification data of every input. Special
  /// values (NaN, Inf, zeros, subnormals, extremes of the dtype) are added for all operators.
  std::vector<double> (*corner_points)(const Attrs& attrs, DType dtype) = nullptr;
  Mixing mixing = Mixing::none;
  /// Output 0 is input 0 and a change of it, which may be small beside it: a step of an optimizer.
  bool adds_to_first = false;
  /// Right kernels hold intermediate results in fp32 where the dtype is narrower.
  bool holds_fp32 = false;
  /// Intermediate results are exponentials or logarithms, which fast kernels take of polynomials.
  bool takes_functions = false;
  /// Inputs that follow the case's dtype may have different floating dtypes, as a case states for
  /// each; `infer` promotes them (ops/elementwise.h).
  bool promotes = false;
  ContextTraits context = {};  ///< how a context plans it

  std::string key() const { return std::string(name); }
  /// An output element depends on many input elements, so one NaN or Inf would drown all others:
  /// corner values stay finite.
  bool mixes_elements() const { return mixing != Mixing::none; }
  /// Of input (output) `i` of a use: "x", or "x0", "x1", ... where the list repeats.
  const TensorSpec& input(std::size_t i) const { return inputs[std::min(i, inputs.size() - 1)]; }
  /// Output `i`'s place in the list of outputs.
  const TensorSpec& output(std::size_t i) const { return outputs[std::min(i, outputs.size() - 1)]; }
  std::string input_name(std::size_t i) const;
  std::string input_path(std::size_t i) const;
  std::string output_name(const Problem& problem, std::size_t i) const;
  std::string output_path(const Problem& problem, std::size_t i) const;
};

using RegisteredOp = Registered<Op>;

/// The operator called `name`. Errors: throws Error that suggests the nearest name.
const Op& find_op(std::string_view name);

/// What the readers read, in their order.
std::vector<TensorDesc> descs_of(std::span<const InputReader> inputs);

/// The data of input `i` of a problem where the case states none: what the operator wants, else
/// normal(0,1), whole numbers for integer dtypes.
Distribution default_data(const Problem& problem, std::size_t i);

/// The input shapes that one given shape stands for: the operator's rule, or the same for each.
std::vector<Dims> shapes_like(const Op& op, const Dims& shape, const Attrs& attrs);

/// Errors: throws Error unless the operator takes so many inputs.
void check_input_count(const Op& op, std::size_t found);

/// Descriptions of inputs of a case: `shapes[i]` of the case's dtype and format, or as the operator
/// states for that input; `dtypes[i]` (may be left out) chooses among an input's own dtypes.
std::vector<TensorDesc> describe_inputs(const Op& op, std::span<const Dims> shapes, DType dtype,
                                        Format format, const Attrs& attrs,
                                        std::span<const std::optional<DType>> dtypes = {});

/// Checks count, dtype and attributes of a use and infers its outputs.
/// Errors: throws Error that names the operator, what was found and what is allowed.
Problem make_problem(const Op& op, std::vector<TensorDesc> inputs, Attrs attrs);

/// NaN, +-Inf, +-0, the smallest and largest subnormals, normals and extremes of `dtype`, then the
/// operator's own corner points, each as rounded to `dtype`.
std::vector<double> corner_values(const Problem& problem);

}  // namespace opbench
