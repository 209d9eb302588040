#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/class_loss.h"
#include "ops/elementwise.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "ops/terms.h"

namespace opbench {
namespace {

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  require_class_rows("cross_entropy", inputs);
  return {describe(inputs[0].dtype, reduced_loss(attrs, {inputs[0].shape[0]}))};
}

std::vector<TensorDesc> infer_grad(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  require_class_rows("cross_entropy_grad", inputs.subspan(1));
  require_loss_gradient("cross_entropy_grad", inputs[0], attrs, {inputs[1].shape[0]});
  return {inputs[1]};
}

// log(sum(exp(row))), in the form that does not overflow.
double log_of_sum(const double* row, std::int64_t count) {
  double greatest = row[0], sum = 0;
  for (std::int64_t c = 1; c < count; ++c) greatest = std::fmax(greatest, row[c]);
  for (std::int64_t c = 0; c < count; ++c) sum += std::exp(row[c] - greatest);
  return greatest + std::log(sum);
}

// A row's loss is the sum over its classes of share(n, c)*(log(sum(exp(row))) - row[c]).
struct Wanted : ClassTargets {
  double smoothing, all_weights = 0;

  Wanted(std::span<const InputReader> inputs, const Attrs& attrs)
      : ClassTargets(inputs, attrs), smoothing(attrs.number("label_smoothing")) {
    for (const double factor : weight) all_weights += factor;
  }

  double share(std::size_t n, std::size_t c) const {
    const double meant = static_cast<std::int64_t>(c) == target[n] ? 1 - smoothing : 0;
    return weight[c] * (meant + smoothing / double(weight.size()));
  }
  double all_shares(std::size_t n) const {
    return (1 - smoothing) * of_target(n) + smoothing / double(weight.size()) * all_weights;
  }
};

// The loss of row `n` with elements `row`.
double row_loss(const Wanted& wanted, std::size_t n, const double* row) {
  if (wanted.is_ignored(n)) return 0;
  const std::size_t classes = wanted.weight.size();
  const double all = log_of_sum(row, std::ssize(wanted.weight));
  double loss = 0;
  for (std::size_t c = 0; c < classes; ++c) {
    const double share = wanted.share(n, c);
    if (share != 0) loss += share * (all - row[c]);
  }
  return loss;
}

// The losses of rows, or their sum or mean.
Reference reduced(std::vector<double> losses, const Wanted& wanted, const Attrs& attrs) {
  if (reduction_of(attrs) != Reduction::none) {
    losses = {std::accumulate(losses.begin(), losses.end(), 0.0) / wanted.total};
  }
  return elements_of({std::move(losses)});
}

// The sum of exp(row - max) is at least 1. Its rounding changes the logarithm, and so the loss of
// the row, by a unit roundoff of 1. The loss of a nearly certain class is far below 1.
double row_terms(const Wanted& wanted, std::size_t n, const double* row) {
  if (wanted.is_ignored(n)) return 0;
  const std::size_t classes = wanted.weight.size();
  const double greatest = *std::max_element(row, row + classes);
  const double all = log_of_sum(row, std::ssize(wanted.weight)) - greatest;
  double terms = 0;
  for (std::size_t c = 0; c < classes; ++c) {
    const double share = std::fabs(wanted.share(n, c));
    if (share != 0) terms += share * (1 + all + std::fabs(row[c] - greatest));
  }
  return terms;
}

template <double (*kOfRow)(const Wanted& wanted, std::size_t n, const double* row)>
Reference of_rows(std::span<const InputReader> inputs, const Attrs& attrs) {
  const std::vector<double> x = inputs[0].read_all();
  const Wanted wanted(inputs, attrs);
  const std::size_t classes = wanted.weight.size();
  std::vector<double> losses;
  for (std::size_t n = 0; n < wanted.target.size(); ++n) {
    losses.push_back(kOfRow(wanted, n, x.data() + n * classes));
  }
  return reduced(std::move(losses), wanted, attrs);
}

Terms terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  return {.magnitude = of_rows<row_terms>(inputs, attrs)};
}

// (softmax - share)*scale, or with `kSum` the magnitudes of its terms.
template <bool kSum>
Reference reference_grad(std::span<const InputReader> inputs, const Attrs& attrs) {
  std::vector<double> dx = inputs[1].read_all();
  const Wanted wanted(inputs.subspan(1), attrs);
  const std::size_t classes = wanted.weight.size();
  const std::vector<double> dy = inputs[0].read_all();
  for (std::size_t n = 0; n < wanted.target.size(); ++n) {
    double* row = dx.data() + n * classes;
    if (wanted.is_ignored(n)) {
      std::fill_n(row, classes, 0.0);
      continue;
    }
    const double scale = dy[dy.size() == 1 ? 0 : n] / wanted.total;
    const double all = log_of_sum(row, std::ssize(wanted.weight)), shares = wanted.all_shares(n);
    for (std::size_t c = 0; c < classes; ++c) {
      const double is = std::exp(row[c] - all) * shares, meant = wanted.share(n, c);
      // The relative error of an exponential is the absolute error of its exponent.
      const double terms = (is > 0 ? is * (1 + std::fabs(row[c] - all)) : 0) + meant;
      row[c] = kSum ? terms * std::fabs(scale) : (is - meant) * scale;
    }
  }
  return elements_of({std::move(dx)});
}

std::vector<AttrSpec> loss_attrs() {
  std::vector<AttrSpec> attrs = class_loss_attrs();
  attrs.insert(attrs.begin() + 1,
               {"label_smoothing", 0.0, "share of the loss that is divided among all classes",
                [](const AttrValue& value) -> std::string {
                  const double share = std::get<double>(value);
                  return share >= 0 && share <= 1 ? "" : "it must be from 0 to 1";
                }});
  return attrs;
}

std::vector<TensorSpec> grad_inputs() {
  std::vector<TensorSpec> inputs = class_inputs(1, nullptr);
  inputs.insert(inputs.begin(), {"grad_output", "grads/grads_0", {}, unit_data});
  return inputs;
}

const RegisteredOp cross_entropy{{
    .name = "cross_entropy",
    .ir_name = "nll_loss",
    .summary = "y = the mean over the rows (or their sum, or each) of log(sum(exp(x[n]))) - "
               "x[n, target[n]], each times weight[target[n]]",
    .source = "torch.nn.functional.cross_entropy; CANN LogSoftmaxV2, NLLLoss",
    .known_as = {.not_recorded = "dumps hold log_softmax and nll_loss"},
    .inputs = class_inputs(0, nullptr),
    .outputs = {{"result"}},
    .optional_inputs = 1,
    .attrs = loss_attrs(),
    .dtypes = kArithmeticDTypes,
    .formats = {Format::ND},
    .infer = infer,
    .reference = of_rows<row_loss>,
    .terms = terms,
    .traffic = [](const Problem& problem) { return class_loss_traffic(problem, 0, 4); },
    .gradient =
        [](const Problem& forward) { return class_loss_gradient("cross_entropy_grad", forward); },
    .inputs_like = class_loss_inputs,
    .check_values = check_classes<0>,
    .mixing = Mixing::other,
    .takes_functions = true,
    .context = {.needs_fp32 = true},
}};

const RegisteredOp cross_entropy_grad{{
    .name = "cross_entropy_grad",
    .ir_name = "NllLossBackward",
    .summary = "dx[n,c] = (softmax(x[n])[c] - (c == target[n]))*weight[target[n]]*dy/(sum of these "
               "weights)",
    .source = "torch.nn.functional.cross_entropy backward; CANN NLLLossGrad, LogSoftmaxGrad",
    .known_as = {.not_recorded = "dumps hold the gradients of log_softmax and nll_loss"},
    .inputs = grad_inputs(),
    .outputs = {{"grad_input", "grad_inputs/grad_inputs_0"}},
    .optional_inputs = 1,
    .attrs = loss_attrs(),
    .dtypes = kArithmeticDTypes,
    .formats = {Format::ND},
    .infer = infer_grad,
    .reference = reference_grad<false>,
    .terms =
        [](std::span<const InputReader> inputs, const Attrs& attrs) {
          return Terms{.magnitude = reference_grad<true>(inputs, attrs)};
        },
    .traffic = [](const Problem& problem) { return class_loss_traffic(problem, 1, 4); },
    .inputs_like = class_loss_grad_inputs,
    .check_values = check_classes<1>,
    .mixing = Mixing::other,
    .takes_functions = true,
}};

}  // namespace
}  // namespace opbench
