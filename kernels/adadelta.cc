// The update of Adadelta, computed piece by piece in the cache in fp32.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/adadelta.cc"
#include <hwy/foreach_target.h>

#include <array>

#include "kernels/update-inl.h"
#include "kernels/update_pieces.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

struct MeanOfSquares {
  float old_share;
  HWY_INLINE VF32 operator()(VF32 mean, VF32 x) const {
    const VF32 square = hn::Mul(hn::Mul(x, x), hn::Set(F32(), 1 - old_share));
    return hn::Add(hn::Mul(mean, hn::Set(F32(), old_share)), square);
  }
};
struct Step {
  float eps;
  HWY_INLINE VF32 operator()(VF32 g, VF32 squares, VF32 steps) const {
    const VF32 small = hn::Set(F32(), eps);
    return hn::Mul(hn::Div(hn::Sqrt(hn::Add(steps, small)), hn::Sqrt(hn::Add(squares, small))), g);
  }
};

}  // namespace

// Works in place on p, g, the squares and the steps; g becomes the step. `attrs`: lr, rho, eps and
// weight decay.
void adadelta_piece(const float* attrs, std::size_t count, float* const* values) {
  float *const p = values[0], *const g = values[1], *const squares = values[2],
               *const steps = values[3];
  if (attrs[3] != 0) map_lanes<false>(PlusScaled{attrs[3]}, count, g, g, p);
  map_lanes<false>(MeanOfSquares{attrs[1]}, count, squares, squares, g);
  map_lanes<false>(Step{attrs[2]}, count, g, g, squares, steps);
  map_lanes<false>(MeanOfSquares{attrs[1]}, count, steps, steps, g);
  map_lanes<false>(PlusScaled{-attrs[0]}, count, p, p, g);
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(adadelta_piece);

std::array<float, 4> numbers_of(const Attrs& attrs) {
  return {static_cast<float>(attrs.number("lr")), static_cast<float>(attrs.number("rho")),
          static_cast<float>(attrs.number("eps")),
          static_cast<float>(attrs.number("weight_decay"))};
}

const RegisteredKernel native{{
    .op = "adadelta",
    .name = "native",
    .provider = Provider::framework,
    .summary = "all means and the parameters piece by piece in the cache, in fp32",
    .prepare = [](const Problem& problem) -> Launch {
      return update_by_pieces(
          problem, [attrs = numbers_of(problem.attrs)](std::size_t count, float* const* values) {
            HWY_DYNAMIC_DISPATCH(adadelta_piece)(attrs.data(), count, values);
          });
    },
}};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
