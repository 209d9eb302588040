#include "ops/cross_entropy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/elementwise.h"
#include "ops/index.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

void require_logits(std::string_view op, std::span<const TensorDesc> inputs) {
  const TensorDesc &x = inputs[0], &target = inputs[1];
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
  if (inputs.size() < 3 || inputs[2].shape == Dims{x.shape[1]}) return;
  throw Error(
      fmt::format("{}: 'weight' has shape {}; allowed: {}, one factor for each column of "
                  "'self'",
                  op, to_string(inputs[2].shape), x.shape[1]));
}

// Of the losses of `rows` rows.
Dims loss_shape(const Attrs& attrs, std::int64_t rows) {
  return reduction_of(attrs) == Reduction::none ? Dims{rows} : Dims{};
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  require_logits("cross_entropy", inputs);
  return {describe(inputs[0].dtype, loss_shape(attrs, inputs[0].shape[0]))};
}

std::vector<TensorDesc> infer_grad(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  require_logits("cross_entropy_grad", inputs.subspan(1));
  const Dims allowed = loss_shape(attrs, inputs[1].shape[0]);
  if (inputs[0].shape != allowed) {
    throw Error(fmt::format("cross_entropy_grad: 'grad_output' has shape {}; allowed: {}",
                            to_string(inputs[0].shape),
                            allowed.empty() ? "a scalar" : to_string(allowed)));
  }
  return {inputs[1]};
}

// log(sum(exp(row))), in the form that does not overflow.
double log_of_sum(const double* row, std::int64_t count) {
  double greatest = row[0], sum = 0;
  for (std::int64_t c = 1; c < count; ++c) greatest = std::fmax(greatest, row[c]);
  for (std::int64_t c = 0; c < count; ++c) sum += std::exp(row[c] - greatest);
  return greatest + std::log(sum);
}

// What is wanted of every row. A row's loss is the sum over its classes of
// share(n, c)*(log(sum(exp(row))) - row[c]).
struct Wanted {
  std::vector<std::int64_t> target;
  std::vector<double> weight;
  std::int64_t ignore_index;
  double smoothing, all_weights = 0;
  double total = 0;  ///< what the sum of all losses is divided by

  Wanted(std::span<const InputReader> inputs, const Attrs& attrs)
      : target(inputs[1].read_index()),
        ignore_index(attrs.integer("ignore_index")),
        smoothing(attrs.number("label_smoothing")) {
    weight = inputs.size() > 2
                 ? inputs[2].read_all()
                 : std::vector<double>(static_cast<std::size_t>(inputs[0].desc().shape[1]), 1.0);
    for (const double factor : weight) all_weights += factor;
    if (reduction_of(attrs) != Reduction::mean) {
      total = 1;
      return;
    }
    for (std::size_t n = 0; n < target.size(); ++n) total += is_ignored(n) ? 0 : of_target(n);
  }

  bool is_ignored(std::size_t n) const { return target[n] == ignore_index; }
  double of_target(std::size_t n) const { return weight[static_cast<std::size_t>(target[n])]; }
  double share(std::size_t n, std::size_t c) const {
    const double meant = static_cast<std::int64_t>(c) == target[n] ? 1 - smoothing : 0;
    return weight[c] * (meant + smoothing / double(weight.size()));
  }
  double all_shares(std::size_t n) const {
    return (1 - smoothing) * of_target(n) + smoothing / double(weight.size()) * all_weights;
  }
};

// The loss of row `n`, whose elements these are.
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

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const std::vector<double> x = inputs[0].read_all();
  const Wanted wanted(inputs, attrs);
  const std::size_t classes = wanted.weight.size();
  std::vector<double> losses;
  for (std::size_t n = 0; n < wanted.target.size(); ++n) {
    losses.push_back(row_loss(wanted, n, x.data() + n * classes));
  }
  if (reduction_of(attrs) != Reduction::none) {
    losses = {std::accumulate(losses.begin(), losses.end(), 0.0) / wanted.total};
  }
  return [losses = std::move(losses)](std::size_t, ElementRange range, std::span<double> to) {
    std::copy_n(losses.begin() + range.first, range.count, to.begin());
  };
}

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
      row[c] = (std::exp(row[c] - all) * shares - wanted.share(n, c)) * scale;
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
  const std::int64_t classes = problem.inputs[kLogits].shape[1];
  const std::int64_t ignored = problem.attrs.integer("ignore_index");
  const std::vector<std::int64_t> target = inputs[kLogits + 1].read_index();
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (target[i] == ignored || (target[i] >= 0 && target[i] < classes)) continue;
    throw Error(fmt::format("{}: target[{}] is {}; allowed: 0 to {}, or {} (ignore_index)",
                            problem.op->name, i, target[i], classes - 1, ignored));
  }
}

TensorSpec class_weight() {
  return {"weight", "weight", {DType::fp32}, [](const Problem&) {
            return Distribution{DistributionKind::uniform, 0.5, 1.5};
          }};
}

std::vector<AttrSpec> loss_attrs() {
  return {{"ignore_index", std::int64_t{-100}, "rows with this target count for nothing"},
          {"label_smoothing", 0.0, "share of the loss that all classes have alike",
           [](const AttrValue& value) -> std::string {
             const double share = std::get<double>(value);
             return share >= 0 && share <= 1 ? "" : "it must be from 0 to 1";
           }},
          {"reduction", std::string("mean"), "of the rows' losses: mean, sum or none",
           [](const AttrValue& value) -> std::string {
             const auto& word = std::get<std::string>(value);
             const bool is_known = word == "mean" || word == "sum" || word == "none";
             return is_known ? "" : "it must be mean, sum or none";
           }}};
}

std::vector<GradientCall> gradient(const Problem& forward) {
  GradientCall call{"cross_entropy_grad", {{GradientArg::output_gradient, 0}}};
  for (std::size_t i = 0; i < forward.inputs.size(); ++i) {
    call.args.push_back({GradientArg::input, i});
  }
  return {call};
}

Dims rows_of(const Dims& shape) { return shape.empty() ? Dims{1} : Dims{shape[0]}; }

const RegisteredOp cross_entropy{{
    .name = "cross_entropy",
    .ir_name = "nll_loss",
    .summary = "y = the mean over the rows (or their sum, or each) of log(sum(exp(x[n]))) - "
               "x[n, target[n]], each times weight[target[n]]",
    .source = "torch.nn.functional.cross_entropy; CANN LogSoftmaxV2, NLLLoss",
    .inputs = {{"self"}, {"target", "target", kIndexDTypes, classes<0>}, class_weight()},
    .outputs = {{"result"}},
    .optional_inputs = 1,
    .attrs = loss_attrs(),
    .dtypes = kArithmeticDTypes,
    .formats = {Format::ND},
    .infer = infer,
    .reference = reference,
    .traffic = traffic<0>,
    .gradient = gradient,
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
    .summary = "dx[n,c] = (softmax(x[n])[c] - (c == target[n]))*weight[target[n]]*dy/(sum of these "
               "weights)",
    .source = "torch.nn.functional.cross_entropy backward; CANN NLLLossGrad, LogSoftmaxGrad",
    .inputs = {{"grad_output", "grads/grads_0", {}, unit_data},
               {"self"},
               {"target", "target", kIndexDTypes, classes<1>},
               class_weight()},
    .outputs = {{"grad_input", "grad_inputs/grad_inputs_0"}},
    .optional_inputs = 1,
    .attrs = loss_attrs(),
    .dtypes = kArithmeticDTypes,
    .formats = {Format::ND},
    .infer = infer_grad,
    .reference = reference_grad,
    .traffic = traffic<1>,
    .inputs_like =
        [](const Dims& shape, const Attrs& attrs) {
          return std::vector<Dims>{loss_shape(attrs, rows_of(shape)[0]), shape, rows_of(shape)};
        },
    .check_values = check_classes<1>,
    .mixes_elements = true,
}};

}  // namespace

Reduction reduction_of(const Attrs& attrs) {
  const auto& word = std::get<std::string>(attrs.values().at("reduction"));
  return word == "mean" ? Reduction::mean : word == "sum" ? Reduction::sum : Reduction::none;
}

}  // namespace opbench
