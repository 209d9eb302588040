#include <fmt/format.h>

#include "ops/conv2d.h"
#include "ops/elementwise.h"
#include "ops/format_rules.h"
#include "ops/index.h"
#include "ops/movement.h"
#include "ops/pool.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "max_pool2d_grad";
constexpr std::int64_t kScale = 2;  // the default: kernel and stride of 2

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const TensorDesc &dy = inputs[0], &indices = inputs[1];
  require_planes(kName, "grad_output", dy);
  if (indices.shape != dy.shape || indices.format != dy.format) {
    throw Error(fmt::format("{}: 'indices' is {}; allowed: shape and storage of 'grad_output', {}",
                            kName, to_string(indices), to_string(dy)));
  }
  const Pair size = input_size_of(dy, attrs, kScale);
  return {with_shape(dy, {dy.shape[0], dy.shape[1], size.h, size.w})};
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Pair size = input_size_of(inputs[0].desc(), attrs, kScale);
  const Dims& shape = inputs[0].desc().shape;
  return [dy = inputs[0], indices = inputs[1].read_all(), elements = size.h * size.w,
          windows = shape[2] * shape[3]](std::size_t, ElementRange range, std::span<double> to) {
    std::vector<double> gradients(static_cast<std::size_t>(windows)), sums;
    for_each_plane(range, elements, [&](std::int64_t plane, ElementRange part, std::int64_t at) {
      dy.read({plane * windows, windows}, gradients);
      sums.assign(static_cast<std::size_t>(elements), 0);
      for (std::int64_t i = 0; i < windows; ++i) {
        const double place = indices[static_cast<std::size_t>(plane * windows + i)];
        sums[static_cast<std::size_t>(place)] += gradients[static_cast<std::size_t>(i)];
      }
      std::copy_n(sums.begin() + part.first, part.count, to.begin() + at);
    });
  };
}

std::int64_t places(const Problem& problem) {
  return problem.outputs[0].shape[2] * problem.outputs[0].shape[3];
}

TensorSpec indices_spec() {
  TensorSpec spec{"indices", "indices", kIndexDTypes,
                  [](const Problem& problem) { return index_data(places(problem)); }};
  spec.formats = {Format::NCHW, Format::NC1HWC0};
  return spec;
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "MaxPool2DWithIndicesBackward",
    .summary = "dx = the sums of dy over the windows whose greatest element this is",
    .source = "torch.nn.functional.max_pool2d backward; CANN MaxPoolGradWithArgmaxV1",
    .known_as = {.calls = {{"MaxPool2DWithIndicesBackward, MaxPoolGradWithArgmaxV1",
                            "grads/grads_0|grad, result1|indices|argmax",
                            "grad_inputs/grad_inputs_0|y",
                            {.attrs = "input_size: plane of self|x"}},
                           {"max_pool2d_with_indices_backward",
                            "grad_output, indices",
                            "result",
                            {.attrs = "input_size: plane of self", .is_profiled_only = true}}},
                 .profiled = {{"MaxPoolGradWithArgmaxV1", "x, grad, argmax", "y"},
                              {"aten::max_pool2d_with_indices_backward",
                               "grad_output, self, , , , , , indices"}}},
    .inputs = {{"grad_output", "grads/grads_0"}, indices_spec()},
    .outputs = {{"grad_input", "grad_inputs/grad_inputs_0"}},
    .attrs = {optional_pair_attr("input_size",
                                 "height and width of x; [] is twice those of 'grad_output'")},
    .dtypes = kArithmeticDTypes,
    .formats = {Format::NCHW, Format::NC1HWC0},
    .infer = infer,
    .reference = reference,
    .traffic = input_traffic<1>,
    .check_values =
        [](const Problem& problem, std::span<const InputReader> inputs) {
          check_index({kName, "indices", places(problem)}, inputs[1].read_index());
        },
    .mixing = Mixing::sums,
    .context = {.input_format = blocked_images},
}};

}  // namespace
}  // namespace opbench
