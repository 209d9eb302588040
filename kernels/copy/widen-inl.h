// Per instruction set: include it after highway.h, in a file that foreach_target.h compiles.
#if defined(OPBENCH_WIDEN_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef OPBENCH_WIDEN_INL_H
#undef OPBENCH_WIDEN_INL_H
#else
#define OPBENCH_WIDEN_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {

// Blocks of 128 bits that fit a vector of this instruction set.
inline constexpr int kMostBlocks = HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86   ? 4
                                   : HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86 ? 2
                                                                            : 1;

#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

// The lanes of `value`, followed by zeros.
template <int kLanes, class V>
HWY_INLINE auto widened(V value) {
  using D = hwy::HWY_NAMESPACE::DFromV<V>;
  if constexpr (hwy::HWY_NAMESPACE::MaxLanes(D()) == kLanes) {
    return value;
  } else {
    const hwy::HWY_NAMESPACE::FixedTag<hwy::HWY_NAMESPACE::TFromD<D>, kLanes> wide;
    return hwy::HWY_NAMESPACE::ZeroExtendVector(wide, widened<kLanes / 2>(value));
  }
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#endif
