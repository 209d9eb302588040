// y = x1 + alpha*x2. Sources: CANN axpy.py uses vaxpy with alpha as a constant of the tensor's
// dtype if the shapes are equal except for the last axis, else vmuls and vadd. axpy_v2.py also
// casts alpha to that dtype; its dynamic kernel widens fp16 to fp32 for vmla.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/axpy.cc"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <bit>
#include <type_traits>

#include "kernels/arithmetic.h"
#include "kernels/simd/elementwise.h"
#include "kernels/simd/simd-inl.h"
#include "ops/broadcast.h"
#include "tensor/half.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

// vmla: one rounding, to fp32.
struct MulAdd {
  float alpha;
  HWY_INLINE VF32 operator()(VF32 x1, VF32 x2) const {
    return hn::MulAdd(x2, hn::Set(F32(), alpha), x1);
  }
};

// x1 + product rounded to odd: no later rounding can take it for a tie.
HWY_INLINE VF32 add_to_odd(VF32 x1, VF32 product) {
  const F32 d;
  const hn::RebindToSigned<F32> i32;
  const VF32 sum = hn::Add(x1, product);
  // The rounding error of the sum (Knuth's two-sum); NaN if it is not finite.
  const VF32 part = hn::Sub(sum, x1);
  const VF32 lost = hn::Add(hn::Sub(x1, hn::Sub(sum, part)), hn::Sub(product, part));
  const auto bits = hn::BitCast(i32, sum);
  const auto is_even = hn::Eq(hn::And(bits, hn::Set(i32, 1)), hn::Zero(i32));
  const auto is_inexact = hn::RebindMask(i32, hn::Gt(hn::Abs(lost), hn::Zero(d)));
  // One unit towards the exact sum: away from zero if both have the same sign.
  const auto step =
      hn::Or(hn::ShiftRight<31>(hn::Xor(bits, hn::BitCast(i32, lost))), hn::Set(i32, 1));
  const auto used = hn::IfThenElseZero(is_inexact, hn::IfThenElseZero(is_even, step));
  return hn::BitCast(d, hn::Add(bits, used));
}

// vaxpy on 16-bit lanes, which rounds once. Here the sum is in fp32 first, and a plain second
// rounding would find false ties. The product of two fp16 numbers is exact in fp32; so is that of
// two bf16 numbers unless it underflows.
template <class T>
struct MulAddOnce {
  float alpha;
  HWY_INLINE VF32 operator()(VF32 x1, VF32 x2) const {
    const VF32 product = hn::Mul(x2, hn::Set(F32(), alpha));
    return add_to_odd(x1, product);
  }
};

// The product rounded to the tensor's dtype, then the sum.
template <class T>
struct MulThenAdd {
  float alpha;
  HWY_INLINE VF32 operator()(VF32 x1, VF32 x2) const {
    const VF32 product = hn::Mul(x2, hn::Set(F32(), alpha));
    if constexpr (sizeof(T) == sizeof(float)) return hn::Add(x1, product);
    HWY_ALIGN T rounded[hn::MaxLanes(F32())];
    store<false>(product, rounded);
    return hn::Add(x1, load(rounded));
  }
};

// The product of a power of two and x2 has as few bits as x2. fp32 then holds the sum, or the lost
// part is too small for a tie.
bool is_power_of_two(float alpha) { return (std::bit_cast<std::uint32_t>(alpha) & 0x7FFFFF) == 0; }

template <class T>
void axpy_of(bool once, float alpha, bool stream, std::size_t count, const T* x1, const T* x2,
             T* y) {
  if constexpr (sizeof(T) == 2) {
    if (once && !is_power_of_two(alpha)) {
      return map(MulAddOnce<T>{alpha}, stream, count, y, x1, x2);
    }
  }
  map(MulAdd{alpha}, stream, count, y, x1, x2);
}

}  // namespace

void axpy(bool once, DType dtype, float alpha, bool stream, std::size_t count, const void* x1,
          const void* x2, void* y) {
  visit_arithmetic(dtype, [&](auto tag) {
    using T = decltype(tag);
    axpy_of(once, alpha, stream, count, static_cast<const T*>(x1), static_cast<const T*>(x2),
            static_cast<T*>(y));
  });
}

void mul_then_add(DType dtype, float alpha, std::size_t count, const void* x1, const void* x2,
                  void* y) {
  visit_arithmetic(dtype, [&](auto tag) {
    using T = decltype(tag);
    map(MulThenAdd<T>{alpha}, false, count, static_cast<T*>(y), static_cast<const T*>(x1),
        static_cast<const T*>(x2));
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(axpy);
HWY_EXPORT(mul_then_add);

float alpha_of(const Problem& problem) { return static_cast<float>(problem.attrs.number("alpha")); }

// Rounds the product first, with alpha in fp32 or in the dtype.
Launch prepare_rounding_twice(const Problem& problem, float alpha) {
  return broadcast_launch(problem,
                          [dtype = problem.inputs[0].dtype, alpha](const ElementwisePart& part) {
                            HWY_DYNAMIC_DISPATCH(mul_then_add)
                            (dtype, alpha, part.count, part.inputs[0], part.inputs[1], part.output);
                          });
}

Launch prepare_native(const Problem& problem) {
  return prepare_rounding_twice(problem, alpha_of(problem));
}

// True if an input is repeated along an axis before the last.
bool repeats_rows(const Problem& problem) {
  Dims whole = problem.outputs[0].shape;
  return std::any_of(problem.inputs.begin(), problem.inputs.end(), [&](const TensorDesc& input) {
    Dims shape(whole.size() - input.shape.size(), 1);
    shape.insert(shape.end(), input.shape.begin(), input.shape.end());
    if (!whole.empty()) shape.back() = whole.back();
    return shape != whole;
  });
}

template <bool kOnce>
Launch prepare(const Problem& problem) {
  const DType dtype = problem.inputs[0].dtype;
  const float alpha = rounded_to(dtype, alpha_of(problem));
  if (kOnce && repeats_rows(problem)) return prepare_rounding_twice(problem, alpha);
  return broadcast_launch(
      problem, [dtype, alpha, stream = outgrows_cache(problem)](const ElementwisePart& part) {
        HWY_DYNAMIC_DISPATCH(axpy)
        (kOnce, dtype, alpha, stream, part.count, part.inputs[0], part.inputs[1], part.output);
      });
}

std::string refuse_alpha(const Problem& problem) {
  return refuse_lost_scalar("alpha", alpha_of(problem), problem.inputs[0].dtype);
}

const RegisteredKernel native{{
    .op = "axpy",
    .name = "native",
    .provider = Provider::framework,
    .summary = "alpha*x2 rounded to the dtype, then the sum: two roundings; one pass, plain stores",
    .prepare = prepare_native,
}};

const RegisteredKernel npu{{
    .op = "axpy",
    .name = "axpy",
    .provider = Provider::npu,
    .summary = "Axpy: vaxpy in the tensor's dtype, one rounding, two where shapes differ; one pass",
    .refusal = refuse_alpha,
    .prepare = prepare<true>,
}};

const RegisteredKernel npu_v2{{
    .op = "axpy",
    .name = "axpy_v2",
    .provider = Provider::npu,
    .summary = "AxpyV2: alpha in the tensor's dtype, vmla in fp32, then rounded to it; one pass",
    .refusal = refuse_alpha,
    .prepare = prepare<false>,
}};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
