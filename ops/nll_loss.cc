// The negative log-likelihood: the part of cross_entropy after log_softmax.
#include <algorithm>

#include "ops/class_loss.h"
#include "ops/elementwise.h"
#include "ops/matmul.h"
#include "ops/movement.h"

namespace opbench {
namespace {

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  require_class_places("nll_loss", inputs);
  return {describe(inputs[0].dtype, reduced_loss(attrs, class_places(inputs[0].shape)))};
}

std::vector<TensorDesc> infer_grad(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  require_class_places("nll_loss_grad", inputs.subspan(1));
  require_loss_gradient("nll_loss_grad", inputs[0], attrs, class_places(inputs[1].shape));
  return {inputs[1]};
}

// The place of class c of row n: in images the classes of a row are one plane apart.
std::size_t place_of(const Dims& x, std::size_t n, std::int64_t c) {
  const auto classes = static_cast<std::size_t>(x[1]);
  const auto apart = static_cast<std::size_t>(element_count({x.begin() + 2, x.end()}));
  return (n / apart * classes + static_cast<std::size_t>(c)) * apart + n % apart;
}

// The mean without any loss is NaN as in PyTorch.
Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const std::vector<double> x = inputs[0].read_all();
  const ClassTargets wanted(inputs, attrs);
  std::vector<double> losses;
  double sum = 0;
  for (std::size_t n = 0; n < wanted.target.size(); ++n) {
    const std::size_t place =
        wanted.is_ignored(n) ? 0 : place_of(inputs[0].desc().shape, n, wanted.target[n]);
    losses.push_back(wanted.is_ignored(n) ? 0 : -wanted.of_target(n) * x[place]);
    sum += losses.back();
  }
  if (reduction_of(attrs) != Reduction::none) losses = {sum / wanted.total};
  return elements_of({std::move(losses)});
}

Reference reference_grad(std::span<const InputReader> inputs, const Attrs& attrs) {
  const ClassTargets wanted(inputs.subspan(1), attrs);
  const std::vector<double> dy = inputs[0].read_all();
  std::vector<double> dx(wanted.target.size() * wanted.weight.size());
  for (std::size_t n = 0; n < wanted.target.size(); ++n) {
    if (wanted.is_ignored(n)) continue;
    dx[place_of(inputs[1].desc().shape, n, wanted.target[n])] =
        -wanted.of_target(n) * dy[dy.size() == 1 ? 0 : n] / wanted.total;
  }
  return elements_of({std::move(dx)});
}

// Each row reads one element and one factor; the gradient needs only the shape of x.
template <std::size_t kFirst>
Traffic traffic(const Problem& problem) {
  Traffic traffic = class_loss_traffic(problem, kFirst + 1, 2);
  const TensorDesc& x = problem.inputs[kFirst];
  const auto rows = static_cast<double>(x.elements() / x.shape[1]);
  traffic.bytes_read -= double(x.bytes());
  if (kFirst == 0) traffic.bytes_read += rows * double(size_of(x.dtype));
  if (problem.inputs.size() > kFirst + 2) {
    const TensorDesc& weight = problem.inputs[kFirst + 2];
    traffic.bytes_read -= std::max(0.0, double(weight.bytes()) - rows * sizeof(float));
  }
  return traffic;
}

// Logarithms of probabilities.
Distribution logarithms(const Problem&) { return {DistributionKind::uniform, -8, 0}; }

std::vector<TensorSpec> grad_inputs() {
  std::vector<TensorSpec> inputs = class_inputs(1, logarithms);
  inputs.insert(inputs.begin(), {"grad_output", "grads/grads_0", {}, unit_data});
  return inputs;
}

const RegisteredOp nll_loss{{
    .name = "nll_loss",
    .ir_name = "nll_loss",
    .summary = "y = the mean over the rows (or their sum, or each) of -x[n, target[n]], each times "
               "weight[target[n]]; of images, too",
    .source = "torch.nn.functional.nll_loss; CANN NLLLoss",
    .known_as = {.calls = {{"nll_loss, nll_loss_forward, nll_loss2d, nll_loss2d_forward, NLLLoss",
                            "self|x, target, weight?",
                            "result|result0|output|y",
                            {.attrs = "ignore_index, reduction: reduction as none|mean|sum"}}},
                 .profiled = {{"NLLLoss", "x, target, weight", "y"},
                              {"aten::nll_loss_forward",
                               "self, target, weight, =reduction, =ignore_index"}},
                 .likely = likely_of_loss},
    .inputs = class_inputs(0, logarithms),
    .outputs = {{"result"}},
    .optional_inputs = 1,
    .attrs = class_loss_attrs(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference,
    .traffic = traffic<0>,
    .gradient =
        [](const Problem& forward) { return class_loss_gradient("nll_loss_grad", forward); },
    .inputs_like = class_loss_inputs,
    .check_values = check_classes<0>,
    .mixing = Mixing::sums,
    .context = {.needs_fp32 = true},
}};

const RegisteredOp nll_loss_grad{{
    .name = "nll_loss_grad",
    .ir_name = "NllLossBackward",
    .summary = "dx[n, target[n]] = -weight[target[n]]*dy/(sum of these weights), 0 elsewhere",
    .source = "torch.nn.functional.nll_loss backward; CANN NLLLossGrad",
    .known_as =
        {.calls = {{"NllLossBackward, nll_loss_backward, NllLoss2DBackward, nll_loss2d_backward, "
                    "NLLLossGrad",
                    "grads/grads_0|grad_output|y_grad, self|x, target, weight?",
                    "grad_inputs/grad_inputs_0|grad_input|result|x_grad",
                    {.attrs = "ignore_index, reduction: reduction as none|mean|sum"}}},
         .profiled = {{"NLLLossGrad", "x, y_grad, target, weight", "x_grad"},
                      {"aten::nll_loss_backward",
                       "grad_output, self, target, weight, =reduction, =ignore_index"}},
         .likely = likely_of_loss_grad},
    .inputs = grad_inputs(),
    .outputs = {{"grad_input", "grad_inputs/grad_inputs_0"}},
    .optional_inputs = 1,
    .attrs = class_loss_attrs(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer_grad,
    .reference = reference_grad,
    .traffic = traffic<1>,
    .inputs_like = class_loss_grad_inputs,
    .check_values = check_classes<1>,
    .mixing = Mixing::sums,
}};

}  // namespace
}  // namespace opbench
