// Group norm row by row in fp32 with sums joined in fp64, like layer_norm: the variance in a second
// pass over the deviations from the mean.
#include "ops/group_norm.h"

#include <cmath>
#include <vector>

#include "kernels/simd/cube.h"
#include "kernels/simd/elementwise.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

// Blocks of 64 terms are added in fp32 and joined in fp64, so that rounding errors stay small.
template <class Term>
double sum_of(std::int64_t count, Term term) {
  constexpr std::int64_t kBlock = 64;
  double sum = 0;
  for (std::int64_t first = 0; first < count; first += kBlock) {
    float block = 0;
    const std::int64_t end = std::min(first + kBlock, count);
    for (std::int64_t i = first; i < end; ++i) block += term(i);
    sum += double(block);
  }
  return sum;
}

/// Numbers converted to fp32; the memory is kept between calls.
const float* floats(DType dtype, const void* from, std::int64_t first, std::int64_t count,
                    std::vector<float>& buffer) {
  buffer.resize(static_cast<std::size_t>(count));
  load_floats(dtype, at(from, dtype, first), count, buffer.data());
  return buffer.data();
}

float number(DType dtype, const void* from, std::int64_t i) {
  float value = 0;
  load_floats(dtype, at(from, dtype, i), 1, &value);
  return value;
}

// The value of the channel, or `usual` if the input is absent.
float of_channel(const KernelArgs& args, std::size_t input, DType dtype, std::size_t channel,
                 float usual) {
  if (args.inputs.size() <= input) return usual;
  return number(dtype, args.inputs[input], static_cast<std::int64_t>(channel));
}

float silu(float x) { return x / (1 + std::exp(-x)); }

void forward_row(const NormGroups& of, DType dtype, float eps, const KernelArgs& args,
                 std::int64_t row, bool has_silu) {
  thread_local std::vector<float> buffer;
  const std::int64_t count = of.count();
  const float* const x = floats(dtype, args.inputs[0], row * count, count, buffer);
  const double n = double(count);
  const auto mean = static_cast<float>(sum_of(count, [&](std::int64_t i) { return x[i]; }) / n);
  const double variance =
      sum_of(count, [&](std::int64_t i) { return (x[i] - mean) * (x[i] - mean); }) / n;
  const auto rstd = static_cast<float>(1 / std::sqrt(variance + double(eps)));
  static_cast<float*>(args.outputs[1])[row] = mean;
  static_cast<float*>(args.outputs[2])[row] = rstd;
  for (std::int64_t first = 0; first < count; first += of.inner) {
    const std::size_t c = of.channel(row, static_cast<std::size_t>(first));
    const float weight = of_channel(args, 1, dtype, c, 1), bias = of_channel(args, 2, dtype, c, 0);
    for (std::int64_t i = first; i < first + of.inner; ++i) {
      const float z = (x[i] - mean) * rstd * weight + bias;
      buffer[static_cast<std::size_t>(i)] = has_silu ? silu(z) : z;
    }
  }
  store_floats(dtype, buffer.data(), count, at(args.outputs[0], dtype, row * count));
}

template <bool kSilu>
Launch prepare(const Problem& problem) {
  return [of = NormGroups(problem.op->name, "self", problem.inputs[0].shape, problem.attrs),
          dtype = problem.inputs[0].dtype,
          eps = static_cast<float>(problem.attrs.number("eps"))](const KernelArgs& args) {
    parallel_blocks(of.rows(),
                    [&](std::int64_t row) { forward_row(of, dtype, eps, args, row, kSilu); });
  };
}

struct Gradient {
  NormGroups of;
  DType dtype, mean, rstd, weight;

  explicit Gradient(const Problem& problem)
      : of("group_norm_grad", "self", problem.inputs[1].shape, problem.attrs),
        dtype(problem.inputs[1].dtype),
        mean(problem.inputs[2].dtype),
        rstd(problem.inputs[3].dtype),
        weight(problem.inputs.size() > 4 ? problem.inputs[4].dtype : dtype) {}

  void row(const KernelArgs& args, std::int64_t row) const {
    thread_local std::vector<float> g_buffer, x_buffer;
    const std::int64_t count = of.count();
    floats(dtype, args.inputs[0], row * count, count, g_buffer);
    floats(dtype, args.inputs[1], row * count, count, x_buffer);
    const float center = number(mean, args.inputs[2], row),
                scale = number(rstd, args.inputs[3], row);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at_i = static_cast<std::size_t>(i);
      x_buffer[at_i] = (x_buffer[at_i] - center) * scale;
    }
    for (std::int64_t first = 0; first < count; first += of.inner) {
      const float factor =
          of_channel(args, 4, weight, of.channel(row, static_cast<std::size_t>(first)), 1);
      for (std::int64_t i = first; i < first + of.inner; ++i) {
        g_buffer[static_cast<std::size_t>(i)] *= factor;
      }
    }
    const float *const g = g_buffer.data(), *const xn = x_buffer.data();
    const double n = double(count);
    const auto shift = static_cast<float>(sum_of(count, [&](auto i) { return g[i]; }) / n);
    const auto slope = static_cast<float>(sum_of(count, [&](auto i) { return g[i] * xn[i]; }) / n);
    for (std::int64_t i = 0; i < count; ++i) {
      g_buffer[static_cast<std::size_t>(i)] = (g[i] - (shift + xn[i] * slope)) * scale;
    }
    store_floats(dtype, g, count, at(args.outputs[0], dtype, row * count));
  }

  void channel(const KernelArgs& args, std::int64_t c) const {
    thread_local std::vector<float> dy_buffer, x_buffer;
    double product = 0, sum = 0;
    for (std::int64_t image = 0; image < of.images; ++image) {
      const std::int64_t first = (image * of.channels + c) * of.inner;
      const std::int64_t group = image * of.groups + c / (of.channels / of.groups);
      const float* const dy = floats(dtype, args.inputs[0], first, of.inner, dy_buffer);
      const float* const x = floats(dtype, args.inputs[1], first, of.inner, x_buffer);
      const float center = number(mean, args.inputs[2], group);
      const float scale = number(rstd, args.inputs[3], group);
      product += sum_of(of.inner, [&](auto i) { return dy[i] * ((x[i] - center) * scale); });
      sum += sum_of(of.inner, [&](auto i) { return dy[i]; });
    }
    const auto of_weight = static_cast<float>(product), of_bias = static_cast<float>(sum);
    store_floats(weight, &of_weight, 1, at(args.outputs[1], weight, c));
    store_floats(weight, &of_bias, 1, at(args.outputs[2], weight, c));
  }

  void operator()(const KernelArgs& args) const {
    parallel_blocks(of.rows(), [&](std::int64_t i) { row(args, i); });
    if (args.outputs.size() < 2) return;
    parallel_blocks(of.channels, [&](std::int64_t c) { channel(args, c); });
  }
};

const RegisteredKernel native{{
    .op = "group_norm",
    .name = "native",
    .provider = Provider::framework,
    .summary = "group after group, the variance in a second pass, in fp32",
    .prepare = prepare<false>,
}};

const RegisteredKernel native_silu{{
    .op = "group_norm_silu",
    .name = "native",
    .provider = Provider::framework,
    .summary = "group after group, silu of the result before it is rounded, in fp32",
    .prepare = prepare<true>,
}};

const RegisteredKernel native_grad{{
    .op = "group_norm_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "group after group, then channel after channel, in fp32",
    .prepare = [](const Problem& problem) -> Launch { return Gradient(problem); },
}};

}  // namespace
}  // namespace opbench
