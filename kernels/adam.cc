// The updates of Adam and LAMB, computed piece by piece in the cache in fp32: both means, then the
// parameters.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/adam.cc"
#include "ops/adam.h"

#include <hwy/foreach_target.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "kernels/simd/cube.h"
#include "kernels/simd/elementwise.h"
#include "kernels/simd/scratch.h"
#include "kernels/update-inl.h"
#include "kernels/update_pieces.h"
#include "tensor/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

struct Scaled {
  double scale;
  HWY_INLINE VF32 operator()(VF32 x) const { return hn::Mul(x, set(scale)); }
};
struct Quotient {
  double divisor;
  HWY_INLINE VF32 operator()(VF32 x) const { return hn::Div(x, set(divisor)); }
};
// NaN if either is.
struct Greatest {
  HWY_INLINE VF32 operator()(VF32 a, VF32 b) const {
    return hn::IfThenElse(hn::Eq(a, a), hn::IfThenElse(hn::Gt(a, b), a, b), a);
  }
};
struct Lerp {
  double new_share;
  HWY_INLINE VF32 operator()(VF32 mean, VF32 x) const {
    return hn::Add(mean, hn::Mul(hn::Sub(x, mean), set(new_share)));
  }
};
struct MeanOfSquares {
  double old_share;
  HWY_INLINE VF32 operator()(VF32 mean, VF32 x) const {
    const VF32 square = hn::Mul(hn::Mul(x, set(1 - old_share)), x);
    return hn::Add(hn::Mul(mean, set(old_share)), square);
  }
};
struct Step {
  double rate, root, eps;
  HWY_INLINE VF32 operator()(VF32 p, VF32 m, VF32 v) const {
    const VF32 divisor = hn::Add(hn::Div(hn::Sqrt(v), set(root)), set(eps));
    return hn::Sub(p, hn::Mul(hn::Div(m, divisor), set(rate)));
  }
};

}  // namespace

// Works in place on the inputs of the operator; the contents of the gradient are lost. The fifth is
// null without AMSGrad. `is_device`: the order of operations of ApplyAdamWV2.
void adam_piece(const AdamAttrs& a, bool is_device, std::size_t count, float* const* values) {
  float *const p = values[0], *const g = values[1], *const m = values[2], *const v = values[3];
  float* const greatest = values[4];
  if (a.is_skipped) return;
  if (a.grad_scale != 1) map_lanes<false>(Quotient{a.grad_scale}, count, g, g);
  if (a.maximizes) map_lanes<false>(Scaled{-1}, count, g, g);
  if (a.weight_decay != 0) {
    if (a.is_decoupled && is_device) {
      map_lanes<false>(Scaled{1 - a.lr * a.weight_decay}, count, p, p);
    } else if (a.is_decoupled) {
      map_lanes<false>(PlusScaled{-a.lr * a.weight_decay}, count, p, p, p);
    } else {
      map_lanes<false>(PlusScaled{a.weight_decay}, count, g, g, p);
    }
  }
  if (is_device) {
    map_lanes<false>(Lerp{1 - a.beta1}, count, m, m, g);
  } else {
    map_lanes<false>(Mean{a.beta1}, count, m, m, g);
  }
  map_lanes<false>(MeanOfSquares{a.beta2}, count, v, v, g);
  if (greatest != nullptr) map_lanes<false>(Greatest(), count, greatest, greatest, v);
  const float* const root_of = greatest != nullptr ? greatest : v;
  map_lanes<false>(Step{a.lr / a.correction1, std::sqrt(a.correction2), a.eps}, count, p, p, m,
                   root_of);
}

// The direction of LAMB from a step of Adam from 0: u = wd*p - step.
void lamb_direction(float decay, std::size_t count, const float* p, float* u) {
  map_lanes<false>(Scaled{-1}, count, u, u);
  map_lanes<false>(PlusScaled{double(decay)}, count, u, u, p);
}

void lamb_step(float rate, std::size_t count, const float* u, float* p) {
  map_lanes<false>(PlusScaled{-double(rate)}, count, p, p, u);
}

// The sum of squares, in lanes as for a vector of 16.
double squares_of(std::size_t count, const float* x) {
  double lanes[16] = {};
  std::size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    for (std::size_t k = 0; k < 16; ++k) lanes[k] += double(x[i + k]) * double(x[i + k]);
  }
  for (; i < count; ++i) lanes[i % 16] += double(x[i]) * double(x[i]);
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(adam_piece);
HWY_EXPORT(lamb_direction);
HWY_EXPORT(lamb_step);
HWY_EXPORT(squares_of);

constexpr std::int64_t kPiece = 1024;  // elements; all arrays stay in the L1 cache

template <bool kIsDevice>
Launch prepare(const Problem& problem) {
  return update_by_pieces(problem,
                          [of = AdamAttrs(problem.attrs)](std::size_t count, float* const* values) {
                            HWY_DYNAMIC_DISPATCH(adam_piece)(of, kIsDevice, count, values);
                          });
}

/// LAMB in two passes: the means and directions with the norms of pieces, then the parameters.
struct Lamb {
  DType dtype;
  AdamAttrs of;
  double lr;
  float decay;
  bool is_scaled;
  std::int64_t elements, pieces;
  Scratch directions;
  std::vector<double> norms;  ///< squared, of the parameters and of the directions

  explicit Lamb(const Problem& problem)
      : dtype(problem.inputs[0].dtype),
        of(problem.attrs),
        lr(of.lr),
        decay(static_cast<float>(of.weight_decay)),
        is_scaled(of.weight_decay != 0 || problem.attrs.flag("use_nvlamb")),
        elements(problem.inputs[0].elements()),
        pieces((elements + kPiece - 1) / kPiece),
        directions(elements),
        norms(static_cast<std::size_t>(2 * pieces)) {
    of.lr = 1;
    of.weight_decay = 0;
  }

  std::int64_t count_of(std::int64_t piece) const {
    return std::min(kPiece, elements - piece * kPiece);
  }

  void direct(const KernelArgs& args, std::int64_t piece) {
    const std::int64_t place = piece * kPiece, count = count_of(piece);
    const auto n = static_cast<std::size_t>(count);
    alignas(64) float p[kPiece], values[3][kPiece];
    load_floats(dtype, at(args.inputs[0], dtype, place), count, p);
    for (std::size_t i = 0; i < 3; ++i) {
      load_floats(dtype, at(args.inputs[i + 1], dtype, place), count, values[i]);
    }
    float* const u = directions.data() + place;
    std::fill_n(u, count, 0.0f);
    float* const arrays[] = {u, values[0], values[1], values[2], nullptr};
    HWY_DYNAMIC_DISPATCH(adam_piece)(of, false, n, arrays);
    HWY_DYNAMIC_DISPATCH(lamb_direction)(decay, n, p, u);
    for (std::size_t i = 1; i < 3; ++i) {
      store_floats(dtype, values[i], count, at(args.outputs[i], dtype, place));
    }
    norms.data()[2 * piece] = HWY_DYNAMIC_DISPATCH(squares_of)(n, p);
    norms.data()[2 * piece + 1] = HWY_DYNAMIC_DISPATCH(squares_of)(n, u);
  }

  float rate() const {
    double of_p = 0, of_u = 0;
    for (std::size_t i = 0; i < norms.size(); i += 2) of_p += norms[i], of_u += norms[i + 1];
    const bool has_ratio = is_scaled && of_p > 0 && of_u > 0;
    return static_cast<float>(has_ratio ? lr * std::sqrt(of_p) / std::sqrt(of_u) : lr);
  }

  void update(const KernelArgs& args, std::int64_t piece, float rate) const {
    const std::int64_t place = piece * kPiece, count = count_of(piece);
    alignas(64) float p[kPiece];
    load_floats(dtype, at(args.inputs[0], dtype, place), count, p);
    HWY_DYNAMIC_DISPATCH(lamb_step)
    (rate, static_cast<std::size_t>(count), directions.data() + place, p);
    store_floats(dtype, p, count, at(args.outputs[0], dtype, place));
  }
};

Launch prepare_lamb(const Problem& problem) {
  return [lamb = std::make_shared<Lamb>(problem)](const KernelArgs& args) {
    parallel_blocks(lamb->pieces, [&](std::int64_t piece) { lamb->direct(args, piece); });
    const float rate = lamb->rate();
    parallel_blocks(lamb->pieces, [&](std::int64_t piece) { lamb->update(args, piece, rate); });
  };
}

const RegisteredKernel native{{
    .op = "adam",
    .name = "native",
    .provider = Provider::framework,
    .summary = "both means and the parameters piece by piece in the cache, in fp32",
    .prepare = prepare<false>,
}};

const RegisteredKernel native_lamb{{
    .op = "lamb",
    .name = "native",
    .provider = Provider::framework,
    .summary = "means, directions and their norms piece by piece in fp32, then the parameters",
    .prepare = prepare_lamb,
    .temporary_bytes = [](const Problem& problem) -> std::size_t {
      return sizeof(float) * static_cast<std::size_t>(problem.inputs[0].elements());
    },
}};

const RegisteredKernel npu{{
    .op = "adam",
    .name = "apply_adam_w_v2",
    .provider = Provider::npu,
    .summary = "ApplyAdamWV2: parameters scaled, means as m += (g - m)(1 - b1), in fp32",
    .refusal = [](const Problem& problem) -> std::string {
      return AdamAttrs(problem.attrs).is_decoupled ? "" : "weight decay is decoupled there";
    },
    .prepare = prepare<true>,
    .device_name = "ApplyAdamWV2",
}};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
