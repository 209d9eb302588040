#include "ops/elementwise.h"
#include "ops/movement.h"
#include "ops/reduce_axes.h"

namespace opbench {
namespace {

// Where an element goes in the result.
std::int64_t target_of(std::int64_t element, const Dims& strides, const Dims& to) {
  std::int64_t target = 0;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    target += element / strides[i] * to[i];
    element %= strides[i];
  }
  return target;
}

// Sums in fp64, elements in their order.
std::vector<double> sums(const InputReader& x, const std::vector<bool>& reduced) {
  const TensorDesc& desc = x.desc();
  const Dims strides = row_major_strides(desc.shape), to = strides_in_result(desc.shape, reduced);
  std::int64_t results = 1;
  for (std::size_t i = 0; i < reduced.size(); ++i) results *= reduced[i] ? 1 : desc.shape[i];
  std::vector<double> sum(static_cast<std::size_t>(results));
  std::vector<double> values(static_cast<std::size_t>(largest_block(desc)));
  for (std::int64_t b = 0; b < block_count(desc); ++b) {
    const ElementRange range = block(desc, b);
    x.read(range, {values.data(), static_cast<std::size_t>(range.count)});
    for (std::int64_t i = 0; i < range.count; ++i) {
      const std::int64_t target = target_of(range.first + i, strides, to);
      sum[static_cast<std::size_t>(target)] += values[static_cast<std::size_t>(i)];
    }
  }
  return sum;
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Dims& shape = inputs[0].desc().shape;
  return [sum = sums(inputs[0], reduced_axes("reduce_mean", shape, attrs)),
          n = reduced_count("reduce_mean", shape, attrs)](std::size_t, ElementRange range,
                                                          std::span<double> to) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] = sum[static_cast<std::size_t>(range.first) + i] / n;
    }
  };
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  return {describe(inputs[0].dtype, reduced_shape("reduce_mean", inputs[0].shape, attrs))};
}

Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  traffic.operations = double(problem.inputs[0].elements());
  return traffic;
}

const RegisteredOp registered{{
    .name = "reduce_mean",
    .ir_name = "mean",
    .summary = "y = sum(x)/n along the axes; NaN where n is 0",
    .source = "torch.mean(dim); CANN ReduceMean",
    .inputs = {{"self"}},
    .outputs = {{"result"}},
    .attrs = reduce_attrs(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference,
    .traffic = traffic,
    .gradient =
        [](const Problem&) {
          return std::vector<GradientCall>{
              {"reduce_mean_grad", {{GradientArg::output_gradient, 0}, {GradientArg::input, 0}}}};
        },
    .mixes_elements = true,
}};

}  // namespace
}  // namespace opbench
