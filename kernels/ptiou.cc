// pairwise_iou as the device's Iou computes it: everything in fp16.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/ptiou.cc"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <vector>

#include "kernels/dtypes.h"
#include "kernels/elementwise.h"
#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

// Rounded to fp16. One fp32 operation between two roundings gives what fp16 arithmetic gives: fp32
// has more than twice its bits and two more.
HWY_INLINE VF32 rounded(VF32 x) {
  const F32 d;
  const auto bits = round_to_half_bits(d, x);
  if constexpr (kHardwareHalf) {
    return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, F32>(), bits));
  } else {
    HWY_ALIGN std::uint16_t stored[hn::MaxLanes(F32())];
    hn::Store(bits, hn::Rebind<std::uint16_t, F32>(), stored);
    return load_half(d, stored);
  }
}

// 0.2 in fp16. Sides are scaled so that areas stay in its range.
constexpr float kScale = 0x1.998p-3f;

// One box with many.
struct Ptiou {
  float x1, y1, x2, y2, area;

  HWY_INLINE VF32 side(VF32 near_side, VF32 far_side) const {
    const VF32 scaled =
        rounded(hn::Mul(rounded(hn::Sub(far_side, near_side)), hn::Set(F32(), kScale)));
    return hn::Max(scaled, hn::Zero(F32()));
  }
  HWY_INLINE VF32 operator()(VF32 bx1, VF32 by1, VF32 bx2, VF32 by2, VF32 barea) const {
    const F32 d;
    const VF32 width = side(hn::Max(hn::Set(d, x1), bx1), hn::Min(hn::Set(d, x2), bx2));
    const VF32 height = side(hn::Max(hn::Set(d, y1), by1), hn::Min(hn::Set(d, y2), by2));
    const VF32 inter = rounded(hn::Mul(width, height));
    const VF32 both = rounded(hn::Add(hn::Set(d, area), barea));
    return rounded(hn::Div(inter, rounded(hn::Sub(both, inter))));
  }
};

}  // namespace

// `columns`: x1, y1, x2, y2 and area of box j at j, j + apart, ...; pairs with box `row`.
void ptiou_row(DType dtype, bool stream, const float* row, const float* columns, std::size_t apart,
               std::size_t count, void* y) {
  visit_arithmetic(dtype, [&](auto tag) {
    map(Ptiou{row[0], row[1], row[2], row[3], row[4]}, stream, count,
        static_cast<decltype(tag)*>(y), columns, columns + apart, columns + 2 * apart,
        columns + 3 * apart, columns + 4 * apart);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(ptiou_row);

float rounded(float x) { return float(to_half(x)); }

constexpr float kScale = 0x1.998p-3f, kEps = 0x1.47cp-7f;  // 0.2 and 0.01 in fp16

// eps goes into the areas and not into the intersection.
float side(float near_side, float far_side) {
  return rounded(rounded(rounded(far_side - near_side) + kEps) * kScale);
}

// Box i of `boxes` in fp16: x1, y1, x2, y2 and area, `apart` from one another.
template <class T>
void read_box(const T* boxes, std::size_t i, float* to, std::size_t apart) {
  for (std::size_t k = 0; k < 4; ++k) to[k * apart] = rounded(float(boxes[4 * i + k]));
  to[4 * apart] = rounded(side(to[0], to[2 * apart]) * side(to[apart], to[3 * apart]));
}

struct Plan {
  DType dtype;
  std::size_t rows, columns;
  bool stream;
  std::vector<float> first, second;  // boxes one by one; column by column

  explicit Plan(const Problem& problem)
      : dtype(problem.inputs[0].dtype),
        rows(static_cast<std::size_t>(problem.inputs[0].shape[0])),
        columns(static_cast<std::size_t>(problem.inputs[1].shape[0])),
        // Streamed stores need aligned rows, and a fence after each that only long ones hide.
        stream(outgrows_cache(problem) && columns * size_of(dtype) % 64 == 0 && columns >= 1024),
        first(5 * rows),
        second(5 * columns) {}

  void read(const KernelArgs& args) {
    visit_arithmetic(dtype, [&](auto tag) {
      using T = decltype(tag);
      const auto* a = static_cast<const T*>(args.inputs[0]);
      const auto* b = static_cast<const T*>(args.inputs[1]);
      for (std::size_t i = 0; i < rows; ++i) read_box(a, i, first.data() + 5 * i, 1);
      for (std::size_t j = 0; j < columns; ++j) read_box(b, j, second.data() + j, columns);
    });
  }

  void operator()(const KernelArgs& args) {
    read(args);
    for_each_range(static_cast<std::int64_t>(rows * columns),
                   [&](std::int64_t begin, std::int64_t end) {
                     const auto last = static_cast<std::size_t>(end);
                     for (auto k = static_cast<std::size_t>(begin); k < last;) {
                       const std::size_t i = k / columns, j = k % columns;
                       const std::size_t count = std::min(columns - j, last - k);
                       HWY_DYNAMIC_DISPATCH(ptiou_row)
                       (dtype, stream, first.data() + 5 * i, second.data() + j, columns, count,
                        at(args.outputs[0], dtype, static_cast<std::int64_t>(k)));
                       k += count;
                     }
                   });
  }
};

const RegisteredKernel ptiou{{
    .op = "pairwise_iou",
    .name = "ptiou",
    .summary = "Iou: one pass in fp16, sides times 0.2, 0.01 added to those of areas; for sides "
               "up to 1280",
    .prepare = [](const Problem& problem) -> Launch { return Plan(problem); },
    .judged_as = DType::fp16,
}};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
