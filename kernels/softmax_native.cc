// Softmax and cross entropy as one small operator after the other, each a pass over memory.
#include <algorithm>
#include <cmath>
#include <memory>

#include "kernels/lanes/elementwise.h"
#include "kernels/lanes/in_fp32.h"
#include "ops/movement.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

const float* input(const KernelArgs& args, std::size_t i) {
  return static_cast<const float*>(args.inputs[i]);
}
float* output(const KernelArgs& args) { return static_cast<float*>(args.outputs[0]); }

AxisView view_of(const Problem& problem) {
  const Dims& shape = problem.inputs[0].shape;
  return {shape, axis_of(problem.op->name, shape, problem.attrs.integer("dim"))};
}

// body(first element) of every line along the axis.
template <class Body>
void for_each_axis_line(const AxisView& view, Body body) {
  parallel_ranges(view.outer * view.inner, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t line = begin; line < end; ++line) {
      body(line / view.inner * view.extent * view.inner + line % view.inner);
    }
  });
}

float sum_of_exp(const float* x, std::int64_t count, std::int64_t step, float greatest) {
  double sum = 0;
  for (std::int64_t k = 0; k < count; ++k) sum += double(std::exp(x[k * step] - greatest));
  return static_cast<float>(sum);
}

float greatest_of(const float* x, std::int64_t count, std::int64_t step) {
  float greatest = -HUGE_VALF;
  for (std::int64_t k = 0; k < count; ++k) greatest = std::max(greatest, x[k * step]);
  return greatest;
}

Launch softmax(const Problem& problem) {
  return in_fp32(problem, [view = view_of(problem)](const KernelArgs& args) {
    for_each_axis_line(view, [&](std::int64_t first) {
      const float* x = input(args, 0) + first;
      float* y = output(args) + first;
      const float greatest = greatest_of(x, view.extent, view.inner);
      const float sum = sum_of_exp(x, view.extent, view.inner, greatest);
      for (std::int64_t k = 0; k < view.extent; ++k) {
        y[k * view.inner] = std::exp(x[k * view.inner] - greatest) / sum;
      }
    });
  });
}

Launch softmax_grad(const Problem& problem) {
  return in_fp32(problem, [view = view_of(problem)](const KernelArgs& args) {
    for_each_axis_line(view, [&](std::int64_t first) {
      const float *dy = input(args, 0) + first, *y = input(args, 1) + first;
      double sum = 0;
      for (std::int64_t k = 0; k < view.extent; ++k) {
        sum += double(dy[k * view.inner] * y[k * view.inner]);
      }
      float* dx = output(args) + first;
      for (std::int64_t k = 0; k < view.extent; ++k) {
        dx[k * view.inner] = (dy[k * view.inner] - float(sum)) * y[k * view.inner];
      }
    });
  });
}

std::int64_t class_at(const void* target, DType dtype, std::int64_t n) {
  return dtype == DType::int64 ? static_cast<const std::int64_t*>(target)[n]
                               : static_cast<const std::int32_t*>(target)[n];
}

// log_softmax to a temporary, then what the target names is gathered and averaged.
Launch cross_entropy(const Problem& problem) {
  const Dims& shape = problem.inputs[0].shape;
  const auto logs = std::make_shared<Scratch>(element_count(shape));
  return in_fp32(problem, [logs, rows = shape[0], classes = shape[1],
                           index = problem.inputs[1].dtype](const KernelArgs& args) {
    parallel_ranges(rows, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t n = begin; n < end; ++n) {
        const float* x = input(args, 0) + n * classes;
        const float greatest = greatest_of(x, classes, 1);
        const float log = std::log(sum_of_exp(x, classes, 1, greatest));
        for (std::int64_t c = 0; c < classes; ++c) {
          logs->data()[n * classes + c] = x[c] - greatest - log;
        }
      }
    });
    double sum = 0;
    for (std::int64_t n = 0; n < rows; ++n) {
      sum -= double(logs->data()[n * classes + class_at(args.inputs[1], index, n)]);
    }
    *output(args) = static_cast<float>(sum / double(rows));
  });
}

Launch cross_entropy_grad(const Problem& problem) {
  const Dims& shape = problem.inputs[1].shape;
  return in_fp32(problem, [rows = shape[0], classes = shape[1],
                           index = problem.inputs[2].dtype](const KernelArgs& args) {
    const float scale = *input(args, 0) / static_cast<float>(rows);
    parallel_ranges(rows, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t n = begin; n < end; ++n) {
        const float* x = input(args, 1) + n * classes;
        float* dx = output(args) + n * classes;
        const float greatest = greatest_of(x, classes, 1);
        const float sum = sum_of_exp(x, classes, 1, greatest);
        for (std::int64_t c = 0; c < classes; ++c) dx[c] = std::exp(x[c] - greatest) / sum * scale;
        const std::int64_t wanted = class_at(args.inputs[2], index, n);
        // Not dx - scale: near a certain class that cancels.
        const float share = std::exp(x[wanted] - greatest) / sum;
        dx[wanted] = (share - 1) * scale;
      }
    });
  });
}

const RegisteredKernel softmax_kernel{{
    .op = "softmax",
    .name = "native",
    .provider = Provider::framework,
    .summary = "maximum, sum of exp, quotients: three passes",
    .prepare = softmax,
    .temporary_bytes = in_fp32_bytes,
}};

const RegisteredKernel softmax_grad_kernel{{
    .op = "softmax_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "sum of products, then the gradient: two passes",
    .prepare = softmax_grad,
    .temporary_bytes = in_fp32_bytes,
}};

const RegisteredKernel cross_entropy_kernel{{
    .op = "cross_entropy",
    .name = "native",
    .provider = Provider::framework,
    .summary = "log_softmax, then gather and mean",
    .prepare = cross_entropy,
    .temporary_bytes =
        [](const Problem& problem) {
          return in_fp32_bytes(problem) +
                 static_cast<std::size_t>(problem.inputs[0].elements()) * sizeof(float);
        },
}};

const RegisteredKernel cross_entropy_grad_kernel{{
    .op = "cross_entropy_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "softmax, less 1 at the target",
    .prepare = cross_entropy_grad,
    .temporary_bytes = in_fp32_bytes,
}};

}  // namespace
}  // namespace opbench
