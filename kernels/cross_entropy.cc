#include <cmath>
#include <memory>
#include <vector>

#include "kernels/lanes/cube.h"
#include "kernels/lanes/scratch.h"
#include "kernels/softmax_lines.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

// A matrix of rows of classes, and the class that is wanted of each row.
struct ClassRows {
  DType dtype, index;
  std::int64_t rows, classes;

  ClassRows(const TensorDesc& x, const TensorDesc& target)
      : dtype(x.dtype), index(target.dtype), rows(x.shape[0]), classes(x.shape[1]) {}

  const void* row(const void* x, std::int64_t n) const { return at(x, dtype, n * classes); }
  void* row(void* x, std::int64_t n) const { return at(x, dtype, n * classes); }
  float element(const void* x, std::int64_t i) const {
    float value = 0;
    load_floats(dtype, at(x, dtype, i), 1, &value);
    return value;
  }
  void store(float value, void* y, std::int64_t i) const {
    store_floats(dtype, &value, 1, at(y, dtype, i));
  }
  std::int64_t wanted(const void* target, std::int64_t n) const {
    return index == DType::int64 ? static_cast<const std::int64_t*>(target)[n]
                                 : static_cast<const std::int32_t*>(target)[n];
  }
  template <class Body>
  void for_each(Body body) const {
    parallel_ranges(rows, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t n = begin; n < end; ++n) body(n);
    });
  }
};

// log_softmax to a temporary, then what the target names is gathered and averaged.
Launch native_loss(const Problem& problem) {
  const ClassRows rows(problem.inputs[0], problem.inputs[1]);
  const auto logs = std::make_shared<Scratch>(problem.inputs[0].elements());
  return [rows, logs](const KernelArgs& args) {
    rows.for_each([&](std::int64_t n) {
      const void* x = rows.row(args.inputs[0], n);
      const LineSum of = sum_of_exp(rows.dtype, x, rows.classes);
      log_softmax_line(rows.dtype, x, rows.classes, of, logs->data() + n * rows.classes);
    });
    double sum = 0;
    for (std::int64_t n = 0; n < rows.rows; ++n) {
      sum -= double(logs->data()[n * rows.classes + rows.wanted(args.inputs[1], n)]);
    }
    rows.store(static_cast<float>(sum / double(rows.rows)), args.outputs[0], 0);
  };
}

// Every row's loss, then their mean.
Launch npu_loss(const Problem& problem) {
  const ClassRows rows(problem.inputs[0], problem.inputs[1]);
  std::vector<float> losses(static_cast<std::size_t>(rows.rows));
  return [rows, losses](const KernelArgs& args) mutable {
    rows.for_each([&](std::int64_t n) {
      const void* x = rows.row(args.inputs[0], n);
      const float wanted = rows.element(x, rows.wanted(args.inputs[1], n));
      const LineSum of = sum_of_exp(rows.dtype, x, rows.classes);
      losses[static_cast<std::size_t>(n)] = of.greatest + std::log(of.sum) - wanted;
    });
    float sum = 0;
    for (const float loss : losses) sum += loss;
    rows.store(sum / static_cast<float>(losses.size()), args.outputs[0], 0);
  };
}

template <Share kShare>
Launch gradient(const Problem& problem) {
  const ClassRows rows(problem.inputs[1], problem.inputs[2]);
  return [rows](const KernelArgs& args) {
    const float scale = rows.element(args.inputs[0], 0) / static_cast<float>(rows.rows);
    rows.for_each([&](std::int64_t n) {
      const void* x = rows.row(args.inputs[1], n);
      void* dx = rows.row(args.outputs[0], n);
      const LineSum of = sum_of_exp(rows.dtype, x, rows.classes);
      scaled_softmax_line(rows.dtype, x, rows.classes, of, kShare, scale, dx);
      // Not dx - scale: near a certain class that cancels.
      const std::int64_t wanted = rows.wanted(args.inputs[2], n);
      const float e = std::exp(rows.element(x, wanted) - of.greatest);
      const float share = kShare == Share::quotient ? e / of.sum : e * (1 / of.sum);
      rows.store((share - 1) * scale, dx, wanted);
    });
  };
}

const RegisteredKernel native{{
    .op = "cross_entropy",
    .name = "native",
    .provider = Provider::framework,
    .summary = "log_softmax to memory, then gather and mean",
    .prepare = native_loss,
    .temporary_bytes =
        [](const Problem& problem) {
          return static_cast<std::size_t>(problem.inputs[0].elements()) * sizeof(float);
        },
}};

const RegisteredKernel log_softmax_v2{{
    .op = "cross_entropy",
    .name = "log_softmax_v2",
    .summary = "LogSoftmaxV2 and NLLLoss, row by row in cache, fp32",
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
    .summary = "NLLLossGrad and LogSoftmaxGrad, row by row in cache, fp32",
    .prepare = gradient<Share::product>,
    .device_name = "NLLLossGrad",
}};

}  // namespace
}  // namespace opbench
