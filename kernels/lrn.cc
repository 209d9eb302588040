// Local response normalisation like CANN's LRN and LRNGrad: fp32, the power as e^(-beta ln s). A
// block of places of the plane passes through all channels, so that the channels of a window stay
// in the L1 cache.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/lrn.cc"
#include "kernels/lrn.h"

#include <hwy/foreach_target.h>

#include <algorithm>

#include "kernels/simd/cube.h"
#include "kernels/simd/elementwise.h"
#include "kernels/simd/math-inl.h"
#include "kernels/simd/scratch.h"
#include "kernels/simd/simd-inl.h"
#include "ops/lrn.h"
#include "tensor/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

struct Square {
  HWY_INLINE VF32 operator()(VF32 x) const { return hn::Mul(x, x); }
};
struct Sum {
  HWY_INLINE VF32 operator()(VF32 a, VF32 b) const { return hn::Add(a, b); }
};
/// k + scale*sum
struct Response {
  float scale, k;
  HWY_INLINE VF32 operator()(VF32 sum) const {
    return hn::Add(hn::Mul(sum, number(scale)), number(k));
  }
};
/// x / s^beta
struct Normalised {
  float beta;
  HWY_INLINE VF32 operator()(VF32 x, VF32 s) const {
    return hn::Mul(x, exp_of(hn::Mul(log_of(s), number(-beta))));
  }
};
/// dy*y / s
struct Share {
  HWY_INLINE VF32 operator()(VF32 dy, VF32 y, VF32 s) const { return hn::Div(hn::Mul(dy, y), s); }
};
/// direct - factor*x*sum
struct Difference {
  float factor;
  HWY_INLINE VF32 operator()(VF32 direct, VF32 x, VF32 sum) const {
    return hn::Sub(direct, hn::Mul(hn::Mul(x, number(factor)), sum));
  }
};

/// The last rows of a quantity, one for each channel of a window.
struct Ring {
  float* rows;
  std::int64_t size, width;

  float* row(std::int64_t channel) const { return rows + channel % size * width; }
  // The sum of rows [first, last].
  void add_up(std::int64_t first, std::int64_t last, std::size_t count, float* sum) const {
    std::copy_n(row(first), count, sum);
    for (std::int64_t c = first + 1; c <= last; ++c) {
      map_lanes<false>(Sum(), count, sum, sum, row(c));
    }
  }
};

}  // namespace

void lrn_block(const Lrn& of, const LrnBlock& b) {
  const std::int64_t channels = of.view.channels, size = of.before + of.after + 1;
  const auto n = static_cast<std::size_t>(b.count);
  const Ring x{b.memory, size, b.count}, squares{x.rows + size * b.count, size, b.count};
  float* const s = squares.rows + size * b.count;
  float* const y = s + b.count;
  for (std::int64_t next = 0; next < channels + of.after; ++next) {
    if (next < channels) {
      load_floats(b.dtype, b.row(b.inputs[0], next), b.count, x.row(next));
      map_lanes<false>(Square(), n, squares.row(next), x.row(next));
    }
    const std::int64_t c = next - of.after;
    if (c < 0) continue;
    squares.add_up(std::max<std::int64_t>(0, c - of.before), std::min(channels - 1, next), n, s);
    map_lanes<false>(Response{static_cast<float>(of.scale), static_cast<float>(of.k)}, n, s, s);
    map_lanes<false>(Normalised{static_cast<float>(of.beta)}, n, y, x.row(c), s);
    store_floats(b.dtype, y, b.count, b.row(b.output, c));
  }
}

// The shares of a window are complete `before` channels after its squares.
void lrn_grad_block(const Lrn& of, const LrnBlock& b) {
  const std::int64_t channels = of.view.channels, size = of.before + of.after + 1;
  const auto n = static_cast<std::size_t>(b.count);
  const Ring x{b.memory, size, b.count}, squares{x.rows + size * b.count, size, b.count},
      shares{squares.rows + size * b.count, size, b.count},
      direct{shares.rows + size * b.count, size, b.count};
  float* const s = direct.rows + size * b.count;
  float *const dy = s + b.count, *const y = dy + b.count;
  const auto factor = static_cast<float>(2 * of.scale * of.beta);
  for (std::int64_t next = 0; next < channels + size - 1; ++next) {
    if (next < channels) {
      load_floats(b.dtype, b.row(b.inputs[1], next), b.count, x.row(next));
      map_lanes<false>(Square(), n, squares.row(next), x.row(next));
    }
    if (const std::int64_t c = next - of.after; c >= 0 && c < channels) {
      squares.add_up(std::max<std::int64_t>(0, c - of.before), std::min(channels - 1, next), n, s);
      map_lanes<false>(Response{static_cast<float>(of.scale), static_cast<float>(of.k)}, n, s, s);
      load_floats(b.dtype, b.row(b.inputs[0], c), b.count, dy);
      load_floats(b.dtype, b.row(b.inputs[2], c), b.count, y);
      map_lanes<false>(Share(), n, shares.row(c), dy, y, s);
      map_lanes<false>(Normalised{static_cast<float>(of.beta)}, n, direct.row(c), dy, s);
    }
    if (const std::int64_t c = next - (size - 1); c >= 0) {
      shares.add_up(std::max<std::int64_t>(0, c - of.after), std::min(channels - 1, c + of.before),
                    n, s);
      map_lanes<false>(Difference{factor}, n, y, direct.row(c), x.row(c), s);
      store_floats(b.dtype, y, b.count, b.row(b.output, c));
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(lrn_block);
HWY_EXPORT(lrn_grad_block);

constexpr std::int64_t kBlock = 256;  // places; the rows of a window of 5 stay in the L1 cache

using Block = void (*)(const Lrn& of, const LrnBlock& block);

/// `quantities`: with a row for each channel of a window; `rows`: with one row.
Launch by_blocks(const Problem& problem, std::size_t x, std::int64_t quantities, std::int64_t rows,
                 Block block) {
  const Lrn of(problem.op->name, "self", problem.inputs[x], problem.attrs);
  return
      [of, block, dtype = problem.inputs[x].dtype,
       floats = ((of.before + of.after + 1) * quantities + rows) * kBlock](const KernelArgs& args) {
        const std::int64_t inner = of.view.inner, blocks = (inner + kBlock - 1) / kBlock;
        parallel_blocks(of.view.outer * blocks, [&](std::int64_t i) {
          thread_local AlignedFloats memory;
          memory.resize(floats);
          const std::int64_t first = i % blocks * kBlock;
          block(of, {dtype, i / blocks * of.view.channels * inner + first, inner,
                     std::min(kBlock, inner - first), args.inputs.data(), args.outputs[0],
                     memory.data()});
        });
      };
}

std::string refuse(const Problem& problem) {
  if (problem.attrs.integer("size") % 2 == 0) return "its window is 2 depth_radius + 1";
  return problem.inputs[0].shape.size() == 4 ? "" : "it takes four axes";
}

const RegisteredKernel npu{{
    .op = "lrn",
    .name = "lrn",
    .provider = Provider::npu,
    .summary = "LRN across channels: x e^(-beta ln s), s = bias + alpha*sum; fp32",
    .dtypes = {DType::fp32, DType::fp16},
    .refusal = refuse,
    .prepare =
        [](const Problem& problem) {
          return by_blocks(problem, 0, 2, 2, HWY_DYNAMIC_DISPATCH(lrn_block));
        },
    .device_name = "LRN",
}};

const RegisteredKernel npu_grad{{
    .op = "lrn_grad",
    .name = "lrn_grad",
    .provider = Provider::npu,
    .summary = "LRNGrad: one pass; the power as e^(-beta ln s); fp32",
    .dtypes = {DType::fp32, DType::fp16},
    .refusal = refuse,
    .prepare =
        [](const Problem& problem) {
          return by_blocks(problem, 1, 4, 3, HWY_DYNAMIC_DISPATCH(lrn_grad_block));
        },
    .device_name = "LRNGrad",
}};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
