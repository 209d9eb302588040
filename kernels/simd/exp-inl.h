// e^x on fp32 lanes. Included once per target.
// clang-format off
#if defined(OPBENCH_KERNELS_EXP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPBENCH_KERNELS_EXP_INL_H_
#undef OPBENCH_KERNELS_EXP_INL_H_
#else
#define OPBENCH_KERNELS_EXP_INL_H_
#endif
// clang-format on

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// e^r for |r| <= ln(2)/2. Polynomial coefficients by Remez (fpminimax in fp32), with the relative
// error below. The short one is for outputs of 11 bits or fewer.
template <bool kShort, class D>
HWY_INLINE hn::Vec<D> exp_fraction(D d, hn::Vec<D> r) {
  hn::Vec<D> p;
  if constexpr (kShort) {  // 1.0e-7
    p = hn::Set(d, 8.312557823956012725830078125e-3f);
    p = hn::MulAdd(p, r, hn::Set(d, 4.189018905162811279296875e-2f));
    p = hn::MulAdd(p, r, hn::Set(d, 0.16667114198207855224609375f));
    p = hn::MulAdd(p, r, hn::Set(d, 0.499992311000823974609375f));
  } else {  // 3.3e-9
    p = hn::Set(d, 1.378246466629207134246826171875e-3f);
    p = hn::MulAdd(p, r, hn::Set(d, 8.368670009076595306396484375e-3f));
    p = hn::MulAdd(p, r, hn::Set(d, 4.16689626872539520263671875e-2f));
    p = hn::MulAdd(p, r, hn::Set(d, 0.16666521131992340087890625f));
    p = hn::MulAdd(p, r, hn::Set(d, 0.4999999105930328369140625f));
  }
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f));
  return hn::MulAdd(p, r, hn::Set(d, 1.0f));
}

// e^x for x <= 0, including subnormal results; NaN stays.
template <class D>
HWY_INLINE hn::Vec<D> exp_of_negative(D d, hn::Vec<D> x) {
  // 2^40 times e^-114 is the last normal number. A select, because a maximum would treat NaN
  // differently.
  const auto least = hn::Set(d, -114.0f);
  const auto z = hn::IfThenElse(hn::Lt(x, least), least, x);
  // x = n ln 2 + r with n whole. Adding 1.5 * 2^23 rounds to a whole number in the low bits; here
  // the exponent's bias and 40 are added as well, so that it only has to be shifted.
  const auto magic = hn::Set(d, 12582912.0f + 127 + 40);
  const auto shifted = hn::MulAdd(z, hn::Set(d, 1.44269502162933349609375f), magic);
  const auto n = hn::Sub(shifted, magic);
  // ln 2 in two parts (Cody and Waite): n times the first, which has 15 bits, is exact.
  auto r = hn::NegMulAdd(n, hn::Set(d, 0.693145751953125f), z);
  r = hn::NegMulAdd(n, hn::Set(d, 1.428606765330187045037746429443359375e-6f), r);
  const hn::RebindToSigned<D> di;
  const auto scale = hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(di, shifted)));
  return hn::Mul(hn::Mul(exp_fraction<false>(d, r), scale), hn::Set(d, 0x1p-40f));
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#endif
