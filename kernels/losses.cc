// Element-wise losses and their gradients, piece by piece in fp32. The elements of a slab are added
// in fp32 lanes, slabs in fp64: the bits do not depend on the number of threads.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/losses.cc"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <vector>

#include "kernels/formula-inl.h"
#include "kernels/formula.h"
#include "kernels/simd/cube.h"
#include "kernels/simd/row_sums.h"
#include "kernels/simd/steps.h"
#include "ops/reduction.h"
#include "tensor/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

// 1 or -1 with the sign of x, 0 for 0 and NaN.
HWY_INLINE VF32 sign_of(VF32 x) {
  return hn::IfThenElseZero(hn::Gt(hn::Abs(x), number(0)), hn::CopySign(number(1), x));
}

struct SquaredError {
  HWY_INLINE VF32 operator()(VF32 x, VF32 t) const {
    const VF32 error = hn::Sub(x, t);
    return hn::Mul(error, error);
  }
};
struct SquaredErrorSlope {
  HWY_INLINE VF32 operator()(VF32 x, VF32 t) const {
    const VF32 error = hn::Sub(x, t);
    return hn::Add(error, error);
  }
};
struct AbsoluteError {
  HWY_INLINE VF32 operator()(VF32 x, VF32 t) const { return hn::Abs(hn::Sub(x, t)); }
};
struct AbsoluteErrorSlope {
  HWY_INLINE VF32 operator()(VF32 x, VF32 t) const { return sign_of(hn::Sub(x, t)); }
};

struct SmoothError {
  float beta;
  explicit SmoothError(const Numbers& numbers) : beta(numbers[0]) {}
  HWY_INLINE VF32 operator()(VF32 x, VF32 t) const {
    const VF32 error = hn::Abs(hn::Sub(x, t));
    const VF32 parabola = hn::Mul(hn::Mul(number(0.5f), error), hn::Div(error, number(beta)));
    const VF32 straight = hn::Sub(error, number(0.5f * beta));
    return hn::IfThenElse(hn::Lt(error, number(beta)), parabola, straight);
  }
};
struct SmoothErrorSlope {
  float beta;
  explicit SmoothErrorSlope(const Numbers& numbers) : beta(numbers[0]) {}
  HWY_INLINE VF32 operator()(VF32 x, VF32 t) const {
    const VF32 error = hn::Sub(x, t);
    return hn::IfThenElse(hn::Ge(hn::Abs(error), number(beta)), sign_of(error),
                          hn::Div(error, number(beta)));
  }
};

struct LogitError {
  HWY_INLINE VF32 operator()(VF32 x, VF32 t) const {
    const VF32 rest = hn::Log1p(F32(), exp_of(minus_abs(x)));
    const VF32 negative = hn::IfThenElseZero(hn::Lt(x, number(0)), hn::Neg(x));
    return hn::Add(hn::Add(hn::Mul(hn::Sub(number(1), t), x), negative), rest);
  }
};
struct LogitErrorSlope {
  HWY_INLINE VF32 operator()(VF32 x, VF32 t) const { return hn::Sub(sigmoid_of(x), t); }
};

}  // namespace

std::span<const Formula> losses() {
  static constexpr Formula kFormulas[] = {
      {"mse_loss", compute<SquaredError, 2>},
      {"mse_loss_grad", compute<SquaredErrorSlope, 2>},
      {"l1_loss", compute<AbsoluteError, 2>},
      {"l1_loss_grad", compute<AbsoluteErrorSlope, 2>},
      {"smooth_l1_loss", compute<SmoothError, 2>},
      {"smooth_l1_loss_grad", compute<SmoothErrorSlope, 2>},
      {"bce_with_logits", compute<LogitError, 2>},
      {"bce_with_logits_grad", compute<LogitErrorSlope, 2>},
  };
  return kFormulas;
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(losses);

constexpr std::int64_t kPiece = 1024;       // elements; several inputs of them stay in the L1 cache
constexpr std::int64_t kSlab = 16 * 1024;   // elements that are added in fp32
constexpr std::int64_t kGrain = 16 * 1024;  // fewer do not repay waking a thread

/// A formula of inputs `first` (x) and first + 1 (the target), bound to a problem.
struct Errors {
  ComputePiece compute;
  Numbers numbers;
  DType dtype;
  std::size_t first;
  std::int64_t elements;
  Reduction reduction;

  Errors(const Problem& problem, std::size_t x)
      : compute(formula_named(HWY_DYNAMIC_DISPATCH(losses)(), problem.op->name)),
        numbers(numbers_of(problem)),
        dtype(problem.inputs[x].dtype),
        first(x),
        elements(problem.inputs[x].elements()),
        reduction(reduction_of(problem.attrs)) {}

  double divisor() const { return reduction == Reduction::mean ? double(elements) : 1; }

  // Calls use(place, count, values) for pieces of [begin, end) in fp32, and stores what it leaves
  // in the values as `results` unless these are null.
  template <class Use>
  void for_each_piece(const KernelArgs& args, std::int64_t begin, std::int64_t end, void* results,
                      Use use) const {
    alignas(64) float x[kPiece], target[kPiece], buffer[kPiece];
    const bool in_place = results != nullptr && dtype == DType::fp32;
    for (std::int64_t place = begin; place < end; place += kPiece) {
      const std::int64_t count = std::min(kPiece, end - place);
      const auto n = static_cast<std::size_t>(count);
      const float* const inputs[] = {
          widened(dtype, at(args.inputs[first], dtype, place), n, x),
          widened(dtype, at(args.inputs[first + 1], dtype, place), n, target)};
      float* const values = in_place ? static_cast<float*>(results) + place : buffer;
      compute(numbers, n, inputs, values);
      use(place, count, values);
      if (results == nullptr || in_place) continue;
      store_floats(dtype, values, count, at(results, dtype, place));
    }
  }
};

Launch each(const Errors& errors) {
  return [errors](const KernelArgs& args) {
    parallel_ranges(errors.elements, kGrain, [&](std::int64_t begin, std::int64_t end) {
      errors.for_each_piece(args, begin, end, args.outputs[0], [](auto...) {});
    });
  };
}

Launch loss(const Problem& problem) {
  const Errors errors(problem, 0);
  if (errors.reduction == Reduction::none) return each(errors);
  const std::int64_t slabs = (errors.elements + kSlab - 1) / kSlab;
  return [errors, slabs, partial = std::vector<double>(static_cast<std::size_t>(slabs))](
             const KernelArgs& args) mutable {
    parallel_blocks(slabs, [&](std::int64_t slab) {
      const std::int64_t begin = slab * kSlab, end = std::min(errors.elements, begin + kSlab);
      alignas(64) float lanes[kSumLanes] = {};
      errors.for_each_piece(args, begin, end, nullptr,
                            [&](std::int64_t, std::int64_t count, const float* values) {
                              add_to_sum_lanes(DType::fp32, values, count, 1, lanes);
                            });
      double& sum = partial[static_cast<std::size_t>(slab)] = 0;
      for (const float lane : lanes) sum += double(lane);
    });
    double sum = 0;
    for (const double of_slab : partial) sum += of_slab;
    const auto result = static_cast<float>(sum / errors.divisor());
    store_floats(errors.dtype, &result, 1, args.outputs[0]);
  };
}

Launch gradient(const Problem& problem) {
  return [errors = Errors(problem, 1)](const KernelArgs& args) {
    const bool is_single = errors.reduction != Reduction::none;
    float scale = 1;
    if (is_single) load_floats(errors.dtype, args.inputs[0], 1, &scale);
    scale = static_cast<float>(double(scale) / errors.divisor());
    parallel_ranges(errors.elements, kGrain, [&](std::int64_t begin, std::int64_t end) {
      const auto scale_slopes = [&](std::int64_t place, std::int64_t count, float* slopes) {
        if (is_single) {
          for (std::int64_t i = 0; i < count; ++i) slopes[i] *= scale;
          return;
        }
        float buffer[kPiece];
        const void* const dy = at(args.inputs[0], errors.dtype, place);
        multiply(slopes, widened(errors.dtype, dy, static_cast<std::size_t>(count), buffer), count);
      };
      errors.for_each_piece(args, begin, end, args.outputs[0], scale_slopes);
    });
  };
}

Kernel native(std::string_view op, std::string_view summary, PrepareFormula prepare) {
  return {.op = op,
          .name = "native",
          .provider = Provider::framework,
          .summary = summary,
          .prepare = prepare};
}

constexpr std::string_view kLoss = "one pass in fp32, with a sum for reductions",
                           kGradient = "one pass in fp32, the slope times the gradient";

const RegisteredKernel kKernels[] = {
    RegisteredKernel(native("mse_loss", kLoss, loss)),
    RegisteredKernel(native("mse_loss_grad", kGradient, gradient)),
    RegisteredKernel(native("l1_loss", kLoss, loss)),
    RegisteredKernel(native("l1_loss_grad", kGradient, gradient)),
    RegisteredKernel(native("smooth_l1_loss", kLoss, loss)),
    RegisteredKernel(native("smooth_l1_loss_grad", kGradient, gradient)),
    RegisteredKernel(native("bce_with_logits", kLoss, loss)),
    RegisteredKernel(native("bce_with_logits_grad", kGradient, gradient)),
};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
