#include <cmath>

#include "ops/elementwise.h"
#include "ops/movement.h"

namespace opbench {
namespace {

std::vector<AttrSpec> attributes() {
  return {{"dim", std::int64_t{-1}, "the axis along which the results add up to 1"}};
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  axis_of("softmax", inputs[0].shape, attrs.integer("dim"));
  return {inputs[0]};
}

std::vector<TensorDesc> infer_grad(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  infer_elementwise("softmax_grad", inputs);
  axis_of("softmax_grad", inputs[0].shape, attrs.integer("dim"));
  return {inputs[0]};
}

// Elements of whole tensors, made line by line: body(line) with the line's first element.
template <class Body>
void for_each_axis_line(const AxisView& view, Body body) {
  for (std::int64_t line = 0; line < view.outer * view.inner; ++line) {
    body(line / view.inner * view.extent * view.inner + line % view.inner);
  }
}

Reference elements_of(std::vector<double> values) {
  return [values = std::move(values)](std::size_t, ElementRange range, std::span<double> to) {
    std::copy_n(values.begin() + range.first, range.count, to.begin());
  };
}

// y = exp(x - max)/sum of them
Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Dims& shape = inputs[0].desc().shape;
  const AxisView view(shape, axis_of("softmax", shape, attrs.integer("dim")));
  std::vector<double> y = inputs[0].read_all();
  for_each_axis_line(view, [&](std::int64_t first) {
    double* line = y.data() + first;
    double greatest = -HUGE_VAL, sum = 0;
    for (std::int64_t k = 0; k < view.extent; ++k) {
      greatest = std::fmax(greatest, line[k * view.inner]);
    }
    for (std::int64_t k = 0; k < view.extent; ++k) {
      sum += line[k * view.inner] = std::exp(line[k * view.inner] - greatest);
    }
    for (std::int64_t k = 0; k < view.extent; ++k) line[k * view.inner] /= sum;
  });
  return elements_of(std::move(y));
}

// dx = (dy - sum(dy*y))*y
Reference reference_grad(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Dims& shape = inputs[0].desc().shape;
  const AxisView view(shape, axis_of("softmax_grad", shape, attrs.integer("dim")));
  std::vector<double> dx = inputs[0].read_all();
  const std::vector<double> y = inputs[1].read_all();
  for_each_axis_line(view, [&](std::int64_t first) {
    double sum = 0;
    for (std::int64_t k = 0; k < view.extent; ++k) {
      const auto i = static_cast<std::size_t>(first + k * view.inner);
      sum += dx[i] * y[i];
    }
    for (std::int64_t k = 0; k < view.extent; ++k) {
      const auto i = static_cast<std::size_t>(first + k * view.inner);
      dx[i] = (dx[i] - sum) * y[i];
    }
  });
  return elements_of(std::move(dx));
}

// exp overflows there unless the maximum is taken away first, and underflows.
std::vector<double> corner_points(const Attrs&, DType dtype) {
  const double overflow = dtype == DType::fp16 ? 11.5 : 89;
  return {overflow, -overflow, 1.2 * overflow, -1.2 * overflow};
}

const RegisteredOp softmax{{
    .name = "softmax",
    .ir_name = "softmax",
    .summary = "y = exp(x - max)/sum(exp(x - max)) along an axis",
    .source = "torch.nn.functional.softmax; CANN SoftmaxV2",
    .inputs = {{"self"}},
    .outputs = {{"result"}},
    .attrs = attributes(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference,
    // compare, subtract, exp, add, divide
    .traffic = [](const Problem& problem) { return elementwise_traffic(problem, 5); },
    .gradient =
        [](const Problem&) {
          return std::vector<GradientCall>{
              {"softmax_grad", {{GradientArg::output_gradient, 0}, {GradientArg::output, 0}}}};
        },
    .corner_points = corner_points,
    .mixes_elements = true,
    .context = {.needs_fp32 = true},
}};

// Of a line of results each is a share of 1.
Distribution shares(const Problem&) { return {DistributionKind::uniform, 0, 1}; }

const RegisteredOp softmax_grad{{
    .name = "softmax_grad",
    .ir_name = "SoftmaxBackward",
    .summary = "dx = (dy - sum(dy*y))*y along an axis, y the result of softmax",
    .source = "torch.nn.functional.softmax backward; CANN SoftmaxGrad",
    .inputs = {{"grad_output", "grads/grads_0"}, {"result", "result", {}, shares}},
    .outputs = {{"grad_input", "grad_inputs/grad_inputs_0"}},
    .attrs = attributes(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer_grad,
    .reference = reference_grad,
    .traffic = [](const Problem& problem) { return elementwise_traffic(problem, 4); },
    .mixes_elements = true,
}};

}  // namespace
}  // namespace opbench
