#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/softmax.cc"
#include <hwy/foreach_target.h>

#include <vector>

#include "kernels/lanes/cube.h"
#include "kernels/lanes/elementwise.h"
#include "kernels/softmax-inl.h"
#include "ops/movement.h"
#include "tensor/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {

// A padded line becomes its softmax.
void softmax_line(float* x, std::size_t padded) {
  const float sum = exp_and_sum(x, padded, greatest_of(x, padded));
  scale_line(x, padded, 1 / sum);
}

// The logarithm of the sum of exp of a padded line, which is overwritten.
float log_sum_line(float* x, std::size_t padded) {
  const float greatest = greatest_of(x, padded);
  return greatest + std::log(exp_and_sum(x, padded, greatest));
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(softmax_line);
HWY_EXPORT(log_sum_line);

// Lines along an axis, each gathered in fp32 into a buffer padded with `padding`.
struct Lines {
  DType dtype;
  AxisView view;

  Lines(const TensorDesc& desc, std::size_t axis) : dtype(desc.dtype), view(desc.shape, axis) {}
  static Lines of(const Problem& problem) {
    const Dims& shape = problem.inputs[0].shape;
    return {problem.inputs[0], axis_of(problem.op->name, shape, problem.attrs.integer("dim"))};
  }

  std::size_t padded() const { return static_cast<std::size_t>(round_up_to_cube(view.extent)); }
  std::int64_t first(std::int64_t line) const {
    return line / view.inner * view.extent * view.inner + line % view.inner;
  }
  void load(const void* from, std::int64_t line, float padding, std::vector<float>& to) const {
    to.assign(padded(), padding);
    if (view.inner == 1) {
      return load_floats(dtype, at(from, dtype, first(line)), view.extent, to.data());
    }
    for (std::int64_t k = 0; k < view.extent; ++k) {
      load_floats(dtype, at(from, dtype, first(line) + k * view.inner), 1, to.data() + k);
    }
  }
  void store(const std::vector<float>& from, std::int64_t line, void* to) const {
    if (view.inner == 1) {
      return store_floats(dtype, from.data(), view.extent, at(to, dtype, first(line)));
    }
    for (std::int64_t k = 0; k < view.extent; ++k) {
      store_floats(dtype, from.data() + k, 1, at(to, dtype, first(line) + k * view.inner));
    }
  }
  template <class Body>
  void for_each(Body body) const {
    if (view.extent == 0) return;
    parallel_ranges(view.outer * view.inner, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t line = begin; line < end; ++line) body(line);
    });
  }
};

Launch softmax(const Problem& problem) {
  return [lines = Lines::of(problem)](const KernelArgs& args) {
    lines.for_each([&](std::int64_t line) {
      thread_local std::vector<float> x;
      lines.load(args.inputs[0], line, -HUGE_VALF, x);
      HWY_DYNAMIC_DISPATCH(softmax_line)(x.data(), x.size());
      lines.store(x, line, args.outputs[0]);
    });
  };
}

// dx = (dy - sum(dy*y))*y
Launch softmax_grad(const Problem& problem) {
  return [lines = Lines::of(problem)](const KernelArgs& args) {
    lines.for_each([&](std::int64_t line) {
      thread_local std::vector<float> dy, y;
      lines.load(args.inputs[0], line, 0, dy);
      lines.load(args.inputs[1], line, 0, y);
      float sums[kCube] = {};
      for (std::size_t i = 0; i < y.size(); i += kCube) {
        for (std::size_t k = 0; k < kCube; ++k) sums[k] += dy.data()[i + k] * y.data()[i + k];
      }
      float sum = 0;
      for (const float lane : sums) sum += lane;
      for (std::size_t i = 0; i < y.size(); ++i) y.data()[i] *= dy.data()[i] - sum;
      lines.store(y, line, args.outputs[0]);
    });
  };
}

std::int64_t class_at(const void* target, DType dtype, std::int64_t n) {
  return dtype == DType::int64 ? static_cast<const std::int64_t*>(target)[n]
                               : static_cast<const std::int32_t*>(target)[n];
}

// Every row's loss, then their mean.
Launch cross_entropy(const Problem& problem) {
  const Lines lines(problem.inputs[0], 1);
  std::vector<float> losses(static_cast<std::size_t>(lines.view.outer));
  return [lines, losses, index = problem.inputs[1].dtype](const KernelArgs& args) mutable {
    lines.for_each([&](std::int64_t line) {
      thread_local std::vector<float> x;
      lines.load(args.inputs[0], line, -HUGE_VALF, x);
      const float wanted = x.data()[class_at(args.inputs[1], index, line)];
      const float all = HWY_DYNAMIC_DISPATCH(log_sum_line)(x.data(), x.size());
      losses[static_cast<std::size_t>(line)] = all - wanted;
    });
    float sum = 0;
    for (const float loss : losses) sum += loss;
    sum /= static_cast<float>(losses.size());
    store_floats(lines.dtype, &sum, 1, args.outputs[0]);
  };
}

Launch cross_entropy_grad(const Problem& problem) {
  const Lines lines(problem.inputs[1], 1);
  return [lines, index = problem.inputs[2].dtype](const KernelArgs& args) {
    float scale = 0;
    load_floats(lines.dtype, args.inputs[0], 1, &scale);
    scale /= static_cast<float>(lines.view.outer);
    lines.for_each([&](std::int64_t line) {
      thread_local std::vector<float> x;
      lines.load(args.inputs[1], line, -HUGE_VALF, x);
      HWY_DYNAMIC_DISPATCH(softmax_line)(x.data(), x.size());
      x.data()[class_at(args.inputs[2], index, line)] -= 1;
      for (float& value : x) value *= scale;
      lines.store(x, line, args.outputs[0]);
    });
  };
}

const RegisteredKernel softmax_v2{{
    .op = "softmax",
    .name = "softmax_v2",
    .summary = "SoftmaxV2: x less the maximum, exp, times 1/sum; fp32, line by line in cache",
    .prepare = softmax,
}};

const RegisteredKernel softmax_grad_kernel{{
    .op = "softmax_grad",
    .name = "softmax_grad",
    .family = "softmax_v2",
    .summary = "SoftmaxGrad: (dy - sum(dy*y))*y in fp32, line by line in cache",
    .prepare = softmax_grad,
}};

const RegisteredKernel log_softmax_v2{{
    .op = "cross_entropy",
    .name = "log_softmax_v2",
    .summary = "LogSoftmaxV2 and NLLLoss, row by row in cache, fp32",
    .prepare = cross_entropy,
}};

const RegisteredKernel nll_loss_grad{{
    .op = "cross_entropy_grad",
    .name = "nll_loss_grad",
    .family = "log_softmax_v2",
    .summary = "NLLLossGrad and LogSoftmaxGrad, row by row in cache, fp32",
    .prepare = cross_entropy_grad,
    .device_name = "NLLLossGrad",
}};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
