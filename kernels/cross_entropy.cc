#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "kernels/class_rows.h"
#include "kernels/simd/scratch.h"
#include "kernels/softmax_lines.h"

namespace opbench {
namespace {

// The sum of weight*values in 16 lanes; without `weight` all weights are 1.
double weighted_sum(const float* weight, const float* values, std::int64_t count) {
  constexpr std::int64_t kLanes = 16;
  float lanes[kLanes] = {};
  const auto term = [&](std::int64_t c) {
    return weight == nullptr ? values[c] : weight[c] * values[c];
  };
  std::int64_t first = 0;
  for (; first + kLanes <= count; first += kLanes) {
    for (std::int64_t k = 0; k < kLanes; ++k) lanes[k] += term(first + k);
  }
  for (; first < count; ++first) lanes[0] += term(first);
  return std::accumulate(lanes, lanes + kLanes, 0.0);
}

// log_softmax into a temporary, then the targets' elements are gathered and averaged.
struct NativeLoss {
  ClassRows rows;
  std::shared_ptr<Scratch> logs;
  std::vector<double> of_all_classes;  // one for each row, with label smoothing

  explicit NativeLoss(const Problem& problem)
      : rows(problem, 0),
        logs(std::make_shared<Scratch>(problem.inputs[0].elements())),
        of_all_classes(rows.smoothing == 0 ? 0 : static_cast<std::size_t>(rows.rows)) {}

  static std::size_t bytes(const Problem& problem) {
    const Dims& shape = problem.inputs[0].shape;
    const std::size_t sums = problem.attrs.number("label_smoothing") == 0 ? 0 : sizeof(double);
    return static_cast<std::size_t>(shape[0]) *
           (static_cast<std::size_t>(shape[1]) * sizeof(float) + sums);
  }

  void operator()(const KernelArgs& args) {
    const float* weight = weight_of(args, 2);
    const void* target = args.inputs[1];
    rows.for_each([&](std::int64_t n) {
      const void* x = rows.row(args.inputs[0], n);
      float* of_row = logs->data() + n * rows.classes;
      const LineSum of = sum_of_exp(rows.dtype, x, rows.classes);
      log_softmax_line(rows.dtype, x, rows.classes, of, of_row);
      if (rows.smoothing == 0) return;
      of_all_classes[static_cast<std::size_t>(n)] = weighted_sum(weight, of_row, rows.classes);
    });
    double sum = 0;
    for (std::int64_t n = 0; n < rows.rows; ++n) {
      const double loss = row_loss(target, weight, n);
      sum += loss;
      if (rows.reduction == Reduction::none) {
        rows.store(static_cast<float>(loss), args.outputs[0], n);
      }
    }
    if (rows.reduction == Reduction::none) return;
    rows.store(static_cast<float>(sum / rows.total<double>(target, weight)), args.outputs[0], 0);
  }

  double row_loss(const void* target, const float* weight, std::int64_t n) const {
    const std::int64_t c = rows.wanted(target, n);
    if (c == rows.ignore_index) return 0;
    const double factor = double(rows.factor(target, weight, n));
    const double meant = 1 - double(rows.smoothing);
    const double loss = -meant * factor * double(logs->data()[n * rows.classes + c]);
    if (rows.smoothing == 0) return loss;
    return loss - double(rows.smoothing) / double(rows.classes) *
                      of_all_classes[static_cast<std::size_t>(n)];
  }
};

Launch native_loss(const Problem& problem) { return NativeLoss(problem); }

// Computes every row's loss, then their mean or sum.
Launch npu_loss(const Problem& problem) {
  const ClassRows rows(problem, 0);
  std::vector<float> losses(static_cast<std::size_t>(rows.rows));
  return [rows, losses](const KernelArgs& args) mutable {
    const float* weight = weight_of(args, 2);
    rows.for_each([&](std::int64_t n) {
      float& loss = losses[static_cast<std::size_t>(n)] = 0;
      const std::int64_t c = rows.wanted(args.inputs[1], n);
      if (c == rows.ignore_index) return;
      const void* x = rows.row(args.inputs[0], n);
      const LineSum of = sum_of_exp(rows.dtype, x, rows.classes);
      // If the class is nearly certain, the large numbers cancel exactly.
      loss = std::log(of.sum) - (rows.element(x, c) - of.greatest);
      if (weight != nullptr) loss *= weight[c];
    });
    if (rows.reduction == Reduction::none) {
      return store_floats(rows.dtype, losses.data(), rows.rows, args.outputs[0]);
    }
    float sum = 0;
    for (const float loss : losses) sum += loss;
    rows.store(sum / rows.total<float>(args.inputs[1], weight), args.outputs[0], 0);
  };
}

// The values that row `n` of dx needs.
struct GradientRow {
  const ClassRows& rows;
  const float* weight;
  std::int64_t wanted;
  float factor, scale;
  LineSum of;
  Share share;

  float share_of_wanted(const void* x) const {
    const float e = std::exp(rows.element(x, wanted) - of.greatest);
    return share == Share::quotient ? e / of.sum : e * (1 / of.sum);
  }

  void make(const void* x, void* dx) const {
    const float by = factor * scale;
    scaled_softmax_line(rows.dtype, x, rows.classes, of, share, by, dx);
    // Not dx - by: for a nearly certain class that would cancel.
    rows.store((share_of_wanted(x) - 1) * by, dx, wanted);
  }

  // Stays in fp32 until the end, because it has differences of nearly equal numbers.
  void make_smoothed(const void* x, void* dx, double all_weights) const {
    thread_local std::vector<float> from, to;
    from.resize(static_cast<std::size_t>(rows.classes));
    to.resize(from.size());
    load_floats(rows.dtype, x, rows.classes, from.data());
    const float of_each = rows.smoothing / static_cast<float>(rows.classes);
    const float meant = (1 - rows.smoothing) * factor;
    const float all = meant + of_each * static_cast<float>(all_weights);
    scaled_softmax_line(DType::fp32, from.data(), rows.classes, of, share, all, to.data());
    for (std::int64_t c = 0; c < rows.classes; ++c) {
      float& value = to[static_cast<std::size_t>(c)];
      value -= of_each * (weight == nullptr ? 1 : weight[c]) + (c == wanted ? meant : 0);
      value *= scale;
    }
    store_floats(rows.dtype, to.data(), rows.classes, dx);
  }
};

template <Share kShare>
Launch gradient(const Problem& problem) {
  return [rows = ClassRows(problem, 1)](const KernelArgs& args) {
    const float* weight = weight_of(args, 3);
    const void* target = args.inputs[2];
    const auto total = static_cast<float>(rows.total<double>(target, weight));
    double all_weights = double(rows.classes);
    if (weight != nullptr) all_weights = std::accumulate(weight, weight + rows.classes, 0.0);
    rows.for_each([&](std::int64_t n) {
      const void* x = rows.row(args.inputs[1], n);
      void* dx = rows.row(args.outputs[0], n);
      const std::int64_t wanted = rows.wanted(target, n);
      if (wanted == rows.ignore_index) {
        std::memset(dx, 0, static_cast<std::size_t>(rows.classes) * size_of(rows.dtype));
        return;
      }
      const std::int64_t of_row = rows.reduction == Reduction::none ? n : 0;
      const float scale = rows.element(args.inputs[0], of_row) / total;
      const GradientRow row{rows,   weight,
                            wanted, rows.factor(target, weight, n),
                            scale,  sum_of_exp(rows.dtype, x, rows.classes),
                            kShare};
      if (rows.smoothing == 0) return row.make(x, dx);
      row.make_smoothed(x, dx, all_weights);
    });
  };
}

// Source: CANN's NLLLoss and NLLLossGrad have weights and ignore_index only.
std::string refuse_smoothing(const Problem& problem) {
  if (problem.attrs.number("label_smoothing") == 0) return {};
  return "NLLLoss has no label smoothing";
}

const RegisteredKernel native{{
    .op = "cross_entropy",
    .name = "native",
    .provider = Provider::framework,
    .summary = "log_softmax to memory, then gather and mean",
    .prepare = native_loss,
    .temporary_bytes = NativeLoss::bytes,
}};

const RegisteredKernel log_softmax_v2{{
    .op = "cross_entropy",
    .name = "log_softmax_v2",
    .provider = Provider::npu,
    .summary = "LogSoftmaxV2 and NLLLoss, row by row in cache, fp32",
    .refusal = refuse_smoothing,
    .prepare = npu_loss,
}};

const RegisteredKernel native_grad{{
    .op = "cross_entropy_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "softmax, less 1 at the target",
    .prepare = gradient<Share::quotient>,
}};

const RegisteredKernel nll_loss_grad{{
    .op = "cross_entropy_grad",
    .name = "nll_loss_grad",
    .family = "log_softmax_v2",
    .provider = Provider::npu,
    .summary = "NLLLossGrad and LogSoftmaxGrad, row by row in cache, fp32",
    .refusal = refuse_smoothing,
    .prepare = gradient<Share::product>,
    .device_name = "NLLLossGrad",
}};

}  // namespace
}  // namespace opbench
