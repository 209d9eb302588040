#include <cmath>
#include <vector>

#include "ops/elementwise.h"
#include "ops/movement.h"
#include "tensor/dtype.h"

namespace opbench {
namespace {

bool is_found(const InputReader& x, bool saturate) {
  const TensorDesc& desc = x.desc();
  const double largest = largest_finite(desc.dtype);
  std::vector<double> values(static_cast<std::size_t>(largest_block(desc)));
  for (std::int64_t i = 0; i < block_count(desc); ++i) {
    const ElementRange range = block(desc, i);
    const std::span<double> part(values.data(), static_cast<std::size_t>(range.count));
    x.read(range, part);
    for (const double value : part) {
      if (!std::isfinite(value) || (saturate && std::fabs(value) >= largest)) return true;
    }
  }
  return false;
}

ExactReference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  bool found = false;
  for (const InputReader& input : inputs) {
    found = found || is_found(input, attrs.flag("saturate"));
  }
  return [flag = found ? 1.0f : 0.0f](std::size_t, ElementRange range, void* to) {
    if (range.count > 0) *static_cast<float*>(to) = flag;
  };
}

Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  for (const TensorDesc& input : problem.inputs) traffic.operations += double(input.elements());
  return traffic;
}

const RegisteredOp registered{{
    .name = "non_finite_check",
    .ir_name = "_amp_non_finite_check",
    .summary = "flag = 1 if any element of any input is Inf or NaN, else 0",
    .source = "torch._amp_foreach_non_finite_check_and_unscale_ without its factor; CANN "
              "NonFiniteCheckOp",
    .known_as = {.not_recorded = "dumps hold the operators that a loss scaler composes it of"},
    .inputs = {{"x", "tensor_list/tensor_list_"}},
    .outputs = {{"found_flag"}},
    .variadic = true,
    .attrs = {{"saturate", false,
               "the dtype's largest value counts too: the result of an overflow on 910A, which has "
               "no Inf"}},
    .dtypes = kArithmeticDTypes,
    .formats = kElementwiseFormats,
    .accuracy = AccuracyClass::exact,
    .infer = [](std::span<const TensorDesc>,
                const Attrs&) { return std::vector<TensorDesc>{describe(DType::fp32, {1})}; },
    .exact_reference = reference,
    .traffic = traffic,
    .mixing = Mixing::other,
    .context = {.takes_any_storage = true, .reads_overflow_status = true},
}};

}  // namespace
}  // namespace opbench
