#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/attrs.h"
#include "tensor/elements.h"
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
};

/// How outputs are judged: `exact` bit for bit (data movement, integers), `rounded` by a tolerance.
enum class AccuracyClass { exact, rounded };

/// What one call moves and computes, for GB/s, GFLOP/s and the roofline. Bytes count the storage,
/// padding included, each tensor once.
struct Traffic {
  double bytes_read = 0;
  double bytes_written = 0;
  double operations = 0;

  double bytes() const { return bytes_read + bytes_written; }
};

/// Reads an input in logical order as fp64.
class InputReader {
 public:
  InputReader(const TensorDesc& desc, const void* storage) : desc_(&desc), storage_(storage) {}
  const TensorDesc& desc() const { return *desc_; }
  void read(ElementRange range, std::span<double> to) const {
    read_doubles(*desc_, storage_, range, to);
  }

 private:
  const TensorDesc* desc_;
  const void* storage_;
};

/// Golden values on demand: logical elements `range` of output `output`, in fp64, not rounded. May
/// be called from several threads at once.
using Reference = std::function<void(std::size_t output, ElementRange range, std::span<double> to)>;

/// Where an argument of a gradient operator comes from, in terms of the forward operator.
struct GradientArg {
  enum Source { output_gradient, input, output } source;
  std::size_t index = 0;
};

/// The gradient of one input as a call of another operator with the same attributes (those it
/// declares): softplus' input 0 is softplus_grad(output_gradient 0, input 0).
struct GradientRule {
  std::size_t input = 0;
  std::string_view op;
  std::vector<GradientArg> args;
};

/// What an operator is; how it is computed is a Kernel's business.
struct Op {
  std::string_view name;     ///< as on the command line: "softplus"
  std::string_view ir_name;  ///< as the framework's dumper spells it: "SoftplusBackward"
  std::string_view summary;  ///< one line with the formula
  std::string_view source;
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  std::vector<AttrSpec> attrs = {};
  std::vector<DType> dtypes;    ///< of the inputs; all inputs share one
  std::vector<Format> formats;  ///< of the storage
  AccuracyClass accuracy = AccuracyClass::rounded;

  /// Output descriptions. The only check of shapes: throws Error that names the operator, the input
  /// and the rule.
  std::vector<TensorDesc> (*infer)(std::span<const TensorDesc> inputs, const Attrs& attrs);
  /// Golden values in fp64 from the inputs as rounded to their dtype. `inputs` outlive the result.
  Reference (*reference)(std::span<const InputReader> inputs, const Attrs& attrs);
  Traffic (*traffic)(const Problem& problem);
  std::vector<GradientRule> gradient = {};
  /// Values where implementations go wrong, mixed into verification data of every input. Special
  /// values (NaN, Inf, zeros, subnormals, extremes of the dtype) are added for all operators.
  std::vector<double> (*corner_points)(const Attrs& attrs, DType dtype) = nullptr;
  /// An output element depends on many input elements, so one NaN or Inf would drown all others:
  /// corner values stay finite.
  bool mixes_elements = false;

  std::string key() const { return std::string(name); }
};

using RegisteredOp = Registered<Op>;

/// The operator called `name`. Errors: throws Error that suggests the nearest name.
const Op& find_op(std::string_view name);

/// Checks count, dtype and attributes of a use and infers its outputs.
/// Errors: throws Error that names the operator, what was found and what is allowed.
Problem make_problem(const Op& op, std::vector<TensorDesc> inputs, Attrs attrs);

/// NaN, +-Inf, +-0, the smallest and largest subnormals, normals and extremes of `dtype`, then the
/// operator's own corner points, each as rounded to `dtype`.
std::vector<double> corner_values(const Problem& problem);

}  // namespace opbench
