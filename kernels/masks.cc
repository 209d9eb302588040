// Comparisons, and operators that select or drop elements by a mask. A bool is 0 or 1 in lanes,
// too.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/masks.cc"
#include <hwy/foreach_target.h>

#include "kernels/formula-inl.h"
#include "kernels/formula.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

template <class Mask>
HWY_INLINE VF32 truth_of(Mask mask) {
  return hn::IfThenElseZero(mask, number(1));
}

struct Equal {
  HWY_INLINE VF32 operator()(VF32 a, VF32 b) const { return truth_of(hn::Eq(a, b)); }
};
// Not Ne: that is ordered in AVX, but NaN is unequal to everything.
struct NotEqual {
  HWY_INLINE VF32 operator()(VF32 a, VF32 b) const {
    return hn::IfThenElse(hn::Eq(a, b), number(0), number(1));
  }
};
struct LessThan {
  HWY_INLINE VF32 operator()(VF32 a, VF32 b) const { return truth_of(hn::Lt(a, b)); }
};
struct LessEqual {
  HWY_INLINE VF32 operator()(VF32 a, VF32 b) const { return truth_of(hn::Le(a, b)); }
};
struct And {
  HWY_INLINE VF32 operator()(VF32 a, VF32 b) const { return hn::Mul(a, b); }
};
struct Or {
  HWY_INLINE VF32 operator()(VF32 a, VF32 b) const { return hn::Max(a, b); }
};
struct Not {
  HWY_INLINE VF32 operator()(VF32 a) const { return hn::Sub(number(1), a); }
};
struct Where {
  HWY_INLINE VF32 operator()(VF32 condition, VF32 a, VF32 b) const {
    return hn::IfThenElse(hn::Gt(condition, number(0)), a, b);
  }
};
struct MaskedFill {
  float value;
  explicit MaskedFill(const Numbers& numbers) : value(numbers[0]) {}
  HWY_INLINE VF32 operator()(VF32 x, VF32 mask) const {
    return hn::IfThenElse(hn::Gt(mask, number(0)), number(value), x);
  }
};

struct Dropout {
  float scale;
  explicit Dropout(const Numbers& numbers) : scale(numbers[0] == 1 ? 0 : 1 / (1 - numbers[0])) {}
  HWY_INLINE VF32 operator()(VF32 x, VF32 mask) const {
    return hn::Mul(hn::Mul(x, mask), number(scale));
  }
};

// The function with exchanged inputs.
template <class Function>
struct Exchanged {
  HWY_INLINE VF32 operator()(VF32 a, VF32 b) const { return Function()(b, a); }
};

}  // namespace

std::span<const Formula> masks() {
  static constexpr Formula kFormulas[] = {
      {"eq", compute<Equal, 2>},
      {"ne", compute<NotEqual, 2>},
      {"lt", compute<LessThan, 2>},
      {"le", compute<LessEqual, 2>},
      {"gt", compute<Exchanged<LessThan>, 2>},
      {"ge", compute<Exchanged<LessEqual>, 2>},
      {"logical_and", compute<And, 2>},
      {"logical_or", compute<Or, 2>},
      {"logical_xor", compute<NotEqual, 2>},
      {"logical_not", compute<Not, 1>},
      {"where", compute<Where, 3>},
      {"masked_fill", compute<MaskedFill, 2>},
      {"dropout", compute<Dropout, 2>},
  };
  return kFormulas;
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(masks);

Launch prepare(const Problem& problem) {
  return formula_launch(problem, HWY_DYNAMIC_DISPATCH(masks)(), false);
}

const NativeFormulas kNative(prepare, false,
                             {"eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or",
                              "logical_xor", "logical_not", "where", "masked_fill", "dropout"});

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
