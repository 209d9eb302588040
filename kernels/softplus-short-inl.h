// The tail of softplus for fp16 results. Included once per target.
// clang-format off
#if defined(OPBENCH_KERNELS_SOFTPLUS_SHORT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPBENCH_KERNELS_SOFTPLUS_SHORT_INL_H_
#undef OPBENCH_KERNELS_SOFTPLUS_SHORT_INL_H_
#else
#define OPBENCH_KERNELS_SOFTPLUS_SHORT_INL_H_
#endif
// clang-format on

#include <hwy/highway.h>

#include "kernels/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3
// log(1 + exp(-a)) for a >= 0 with the accuracy of fp16: cubics on 32 equal parts of [0, 17.5],
// each with the least relative error (2.9e-5; 7e-5 in fp32 arithmetic). Beyond 17.5 fp16 rounds the
// result to 0. A NaN gives a number.
HWY_INLINE VF32 short_log1p_exp_minus(VF32 a) {
  struct Parts {
    VF32 low, high;

    explicit Parts(const float (&of)[32])
        : low(hn::Load(F32(), of)), high(hn::Load(F32(), of + 16)) {}
    HWY_INLINE VF32 at(__m512i part) const {
      return VF32{_mm512_permutex2var_ps(low.raw, part, high.raw)};
    }
  };
  alignas(64) static constexpr float kCubic[] = {
      -5.633265e-3f,  -1.3703321e-2f, -1.5929494e-2f, -1.3789276e-2f, -1.0123215e-2f,
      -6.740226e-3f,  -4.23484e-3f,   -2.5712228e-3f, -1.5301564e-3f, -9.0002525e-4f,
      -5.2580144e-4f, -3.0596796e-4f, -1.7763853e-4f, -1.0299669e-4f, -5.967278e-5f,
      -3.4557037e-5f, -2.0007143e-5f, -1.1581613e-5f, -6.7037163e-6f, -3.880079e-6f,
      -2.2457064e-6f, -1.2997449e-6f, -7.5224466e-7f, -4.3536915e-7f, -2.5197346e-7f,
      -1.4583142e-7f, -8.4400874e-8f, -4.884752e-8f,  -2.827079e-8f,  -1.6361883e-8f,
      -9.469533e-9f,  -5.480546e-9f};
  alignas(64) static constexpr float kSquare[] = {
      1.2695535e-1f, 1.3966611e-1f, 1.4626606e-1f, 1.3529646e-1f, 1.1109294e-1f, 8.335041e-2f,
      5.8742166e-2f, 3.968916e-2f,  2.6063839e-2f, 1.6784938e-2f, 1.066107e-2f,  6.7032357e-3f,
      4.1823564e-3f, 2.593672e-3f,  1.6004917e-3f, 9.835225e-4f,  6.022338e-4f,  3.67615e-4f,
      2.237815e-4f,  1.3588903e-4f, 8.233388e-5f,  4.9784634e-5f, 3.0047655e-5f, 1.8104654e-5f,
      1.0891609e-5f, 6.5428503e-6f, 3.925187e-6f,  2.3518662e-6f, 1.4075381e-6f, 8.414645e-7f,
      5.0253834e-7f, 2.9983843e-7f};
  alignas(64) static constexpr float kLinear[] = {
      -5.002224e-1f,  -5.0717235e-1f, -5.136968e-1f,  -4.949039e-1f,  -4.4150612e-1f,
      -3.6554617e-1f, -2.848854e-1f,  -2.1208796e-1f, -1.5260781e-1f, -1.070398e-1f,
      -7.3622115e-2f, -4.9862098e-2f, -3.335086e-2f,  -2.20769e-2f,   -1.4485927e-2f,
      -9.433054e-3f,  -6.101893e-3f,  -3.9238394e-3f, -2.5099327e-3f, -1.5978753e-3f,
      -1.0128504e-3f, -6.3949096e-4f, -4.0230318e-4f, -2.5224822e-4f, -1.5767729e-4f,
      -9.828223e-5f,  -6.1098915e-5f, -3.7889895e-5f, -2.344313e-5f,  -1.4473518e-5f,
      -8.917786e-6f,  -5.48425e-6f};
  alignas(64) static constexpr float kConstant[] = {
      6.931513e-1f,  6.944699e-1f,  6.9662184e-1f, 6.858636e-1f,  6.464983e-1f,  5.7705736e-1f,
      4.8882627e-1f, 3.960335e-1f,  3.0942592e-1f, 2.3479421e-1f, 1.7398292e-1f, 1.2642074e-1f,
      9.036206e-2f,  6.368737e-2f,  4.434381e-2f,  3.0547248e-2f, 2.0844702e-2f, 1.4103856e-2f,
      9.470293e-3f,  6.315138e-3f,  4.1846926e-3f, 2.7570075e-3f, 1.8067983e-3f, 1.1783065e-3f,
      7.649678e-4f,  4.9454556e-4f, 3.1847475e-4f, 2.0434483e-4f, 1.306699e-4f,  8.329218e-5f,
      5.2933992e-5f, 3.354627e-5f};
  const VF32 near = hn::Min(a, hn::Set(F32(), 17.499998f));  // the second operand if the first is
                                                             // NaN
  // 16 + 16/17.5 a is in [16, 32): the part is in the upper 5 bits of its mantissa.
  const VF32 scaled = hn::MulAdd(near, hn::Set(F32(), 16 / 17.5f), hn::Set(F32(), 16.0f));
  const __m512i part = _mm512_srli_epi32(_mm512_castps_si512(scaled.raw), 18);
  VF32 sum = Parts(kCubic).at(part);
  sum = hn::MulAdd(sum, near, Parts(kSquare).at(part));
  sum = hn::MulAdd(sum, near, Parts(kLinear).at(part));
  return hn::MulAdd(sum, near, Parts(kConstant).at(part));
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#endif
