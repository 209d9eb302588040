#include <fmt/format.h>

#include <cmath>

#include "ops/elementwise.h"
#include "ops/index.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

void require_logits(std::string_view op, const TensorDesc& x, const TensorDesc& target) {
  if (x.shape.size() != 2 || x.shape[0] < 1 || x.shape[1] < 1) {
    throw Error(fmt::format("{}: 'self' has shape {}; allowed: [N, C], at least one of each", op,
                            to_string(x.shape)));
  }
  if (target.shape != Dims{x.shape[0]}) {
    throw Error(
        fmt::format("{}: 'target' has shape {}; allowed: {}, one class for each row of "
                    "'self'",
                    op, to_string(target.shape), x.shape[0]));
  }
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs&) {
  require_logits("cross_entropy", inputs[0], inputs[1]);
  return {describe(inputs[0].dtype, {})};
}

std::vector<TensorDesc> infer_grad(std::span<const TensorDesc> inputs, const Attrs&) {
  if (!inputs[0].shape.empty()) {
    throw Error(fmt::format("cross_entropy_grad: 'grad_output' has shape {}; allowed: a scalar",
                            to_string(inputs[0].shape)));
  }
  require_logits("cross_entropy_grad", inputs[1], inputs[2]);
  return {inputs[1]};
}

// log(sum(exp(row))), in the form that does not overflow.
double log_of_sum(const double* row, std::int64_t count) {
  double greatest = row[0], sum = 0;
  for (std::int64_t c = 1; c < count; ++c) greatest = std::fmax(greatest, row[c]);
  for (std::int64_t c = 0; c < count; ++c) sum += std::exp(row[c] - greatest);
  return greatest + std::log(sum);
}

Reference reference(std::span<const InputReader> inputs, const Attrs&) {
  const Dims& shape = inputs[0].desc().shape;
  const std::vector<double> x = inputs[0].read_all();
  const std::vector<std::int64_t> target = inputs[1].read_index();
  double sum = 0;
  for (std::int64_t n = 0; n < shape[0]; ++n) {
    const double* row = x.data() + n * shape[1];
    sum += log_of_sum(row, shape[1]) - row[target[static_cast<std::size_t>(n)]];
  }
  return [loss = sum / double(shape[0])](std::size_t, ElementRange, std::span<double> to) {
    for (double& value : to) value = loss;
  };
}

Reference reference_grad(std::span<const InputReader> inputs, const Attrs&) {
  const Dims& shape = inputs[1].desc().shape;
  const double scale = inputs[0].read_all()[0] / double(shape[0]);
  std::vector<double> dx = inputs[1].read_all();
  const std::vector<std::int64_t> target = inputs[2].read_index();
  for (std::int64_t n = 0; n < shape[0]; ++n) {
    double* row = dx.data() + n * shape[1];
    const double all = log_of_sum(row, shape[1]);
    for (std::int64_t c = 0; c < shape[1]; ++c) {
      const double wanted = c == target[static_cast<std::size_t>(n)] ? 1 : 0;
      row[c] = (std::exp(row[c] - all) - wanted) * scale;
    }
  }
  return [dx = std::move(dx)](std::size_t, ElementRange range, std::span<double> to) {
    std::copy_n(dx.begin() + range.first, range.count, to.begin());
  };
}

template <std::size_t kLogits>
Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  traffic.operations = 4 * double(problem.inputs[kLogits].elements());
  return traffic;
}

template <std::size_t kLogits>
Distribution classes(const Problem& problem) {
  return index_data(problem.inputs[kLogits].shape[1]);
}

template <std::size_t kLogits>
void check_classes(const Problem& problem, std::span<const InputReader> inputs) {
  check_index({problem.op->name, "target", problem.inputs[kLogits].shape[1]},
              inputs[kLogits + 1].read_index());
}

Dims rows_of(const Dims& shape) { return shape.empty() ? Dims{1} : Dims{shape[0]}; }

const RegisteredOp cross_entropy{{
    .name = "cross_entropy",
    .ir_name = "nll_loss",
    .summary = "y = the mean over the rows of log(sum(exp(x[n]))) - x[n, target[n]]",
    .source = "torch.nn.functional.cross_entropy; CANN LogSoftmaxV2, NLLLoss",
    .inputs = {{"self"}, {"target", "target", kIndexDTypes, classes<0>}},
    .outputs = {{"result"}},
    .dtypes = kArithmeticDTypes,
    .formats = {Format::ND},
    .infer = infer,
    .reference = reference,
    .traffic = traffic<0>,
    .gradient =
        [](const Problem&) {
          return std::vector<GradientCall>{{"cross_entropy_grad",
                                            {{GradientArg::output_gradient, 0},
                                             {GradientArg::input, 0},
                                             {GradientArg::input, 1}}}};
        },
    .inputs_like =
        [](const Dims& shape, const Attrs&) {
          return std::vector<Dims>{shape, rows_of(shape)};
        },
    .check_values = check_classes<0>,
    .mixes_elements = true,
    .context = {.needs_fp32 = true},
}};

const RegisteredOp cross_entropy_grad{{
    .name = "cross_entropy_grad",
    .ir_name = "NllLossBackward",
    .summary = "dx[n,c] = (softmax(x[n])[c] - (c == target[n]))*dy/N",
    .source = "torch.nn.functional.cross_entropy backward; CANN NLLLossGrad, LogSoftmaxGrad",
    .inputs = {{"grad_output", "grads/grads_0", {}, unit_data},
               {"self"},
               {"target", "target", kIndexDTypes, classes<1>}},
    .outputs = {{"grad_input", "grad_inputs/grad_inputs_0"}},
    .dtypes = kArithmeticDTypes,
    .formats = {Format::ND},
    .infer = infer_grad,
    .reference = reference_grad,
    .traffic = traffic<1>,
    .inputs_like =
        [](const Dims& shape, const Attrs&) {
          return std::vector<Dims>{{}, shape, rows_of(shape)};
        },
    .check_values = check_classes<1>,
    .mixes_elements = true,
}};

}  // namespace
}  // namespace opbench
