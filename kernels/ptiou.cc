// pairwise_iou like the device's Iou: all in fp16.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/ptiou.cc"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <array>
#include <vector>

#include "kernels/copy/plane.h"
#include "kernels/simd/elementwise.h"
#include "kernels/simd/simd-inl.h"
#include "tensor/half.h"
#include "tensor/parallel.h"

#ifndef OPBENCH_KERNELS_PTIOU_SCALE_
#define OPBENCH_KERNELS_PTIOU_SCALE_
namespace opbench {
// 0.2 in fp16. Sides are scaled so that areas stay in the range of fp16.
inline constexpr float kPtiouScale = 0x1.998p-3f;

}  // namespace opbench
#endif

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

// Rounds to fp16. A single fp32 operation between two roundings equals fp16 arithmetic: fp32 has
// more than twice the bits of fp16 plus two.
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

// One box with many.
struct Ptiou {
  float x1, y1, x2, y2, area;

  HWY_INLINE VF32 side(VF32 near_side, VF32 far_side) const {
    const VF32 scaled =
        rounded(hn::Mul(rounded(hn::Sub(far_side, near_side)), hn::Set(F32(), kPtiouScale)));
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

// `columns`: x1, y1, x2, y2 and area of box j at j, j + apart, ...; paired with one box of the same
// layout.
void ptiou_row(DType dtype, bool stream, const float* row, std::size_t row_apart,
               const float* columns, std::size_t apart, std::size_t count, void* y) {
  const Ptiou with_row{row[0], row[row_apart], row[2 * row_apart], row[3 * row_apart],
                       row[4 * row_apart]};
  visit_arithmetic(dtype, [&](auto tag) {
    map(with_row, stream, count, static_cast<decltype(tag)*>(y), columns, columns + apart,
        columns + 2 * apart, columns + 3 * apart, columns + 4 * apart);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(ptiou_row);

constexpr float kEps = 0x1.47cp-7f;  // 0.01 in fp16

// Columns x1, y1, x2, y2 and area of boxes; every value is in fp16.
struct HalfBoxes {
  std::size_t count;
  std::vector<float> columns;  // one after the other
  std::vector<half> scratch;

  explicit HalfBoxes(std::int64_t n)
      : count(static_cast<std::size_t>(n)), columns(6 * count), scratch(4 * count) {}

  float* column(std::size_t i) { return columns.data() + i * count; }

  void round(float* values, std::size_t size) {
    narrow(values, scratch.data(), size);
    widen(scratch.data(), values, size);
  }

  // Scaled sides for areas. Unlike those of intersections they have an eps.
  void sides(const float* near_side, const float* far_side, float* to) {
    for (std::size_t i = 0; i < count; ++i) to[i] = far_side[i] - near_side[i];
    round(to, count);
    for (std::size_t i = 0; i < count; ++i) to[i] += kEps;
    round(to, count);
    for (std::size_t i = 0; i < count; ++i) to[i] *= kPtiouScale;
    round(to, count);
  }

  template <class T>
  void read(const T* boxes) {
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t k = 0; k < 4; ++k) column(k)[i] = float(boxes[4 * i + k]);
    }
    round(columns.data(), 4 * count);
    float *area = column(4), *height = column(5);
    sides(column(0), column(2), area);
    sides(column(1), column(3), height);
    for (std::size_t i = 0; i < count; ++i) area[i] *= height[i];
    round(area, count);
  }
};

struct Plan {
  DType dtype;
  HalfBoxes first, second;
  bool stream;

  explicit Plan(const Problem& problem)
      : dtype(problem.inputs[0].dtype),
        first(problem.inputs[0].shape[0]),
        second(problem.inputs[1].shape[0]),
        // Streamed stores require aligned rows. Each row ends with a fence, which only long rows
        // amortise.
        stream(outgrows_cache(problem) && second.count * size_of(dtype) % 64 == 0 &&
               second.count >= 1024) {}

  void read(const KernelArgs& args) {
    visit_arithmetic(dtype, [&](auto tag) {
      first.read(static_cast<const decltype(tag)*>(args.inputs[0]));
      second.read(static_cast<const decltype(tag)*>(args.inputs[1]));
    });
  }

  void operator()(const KernelArgs& args) {
    read(args);
    if (second.count < kShortRow && first.count > second.count) return pair_columns(args);
    for_each_range(static_cast<std::int64_t>(first.count * second.count), [&](std::int64_t begin,
                                                                              std::int64_t end) {
      pair_rows(args, static_cast<std::size_t>(begin), static_cast<std::size_t>(end));
    });
  }

  // Elements [begin, end) of the output, row by row: a box of the first input with many of the
  // second.
  void pair_rows(const KernelArgs& args, std::size_t begin, std::size_t end) const {
    for (std::size_t k = begin; k < end;) {
      const std::size_t i = k / second.count, j = k % second.count;
      const std::size_t count = std::min(second.count - j, end - k);
      HWY_DYNAMIC_DISPATCH(ptiou_row)
      (dtype, stream, first.columns.data() + i, first.count, second.columns.data() + j,
       second.count, count, at(args.outputs[0], dtype, static_cast<std::int64_t>(k)));
      k += count;
    }
  }

  // Rows too short for vectors: a box of the second input with many of the first, then transposed.
  // The formula is symmetric.
  void pair_columns(const KernelArgs& args) const {
    constexpr std::int64_t kBoxes = 64;  // boxes in one transposition
    const auto rows = static_cast<std::int64_t>(first.count);
    const auto columns = static_cast<std::int64_t>(second.count);
    parallel_blocks((rows + kBoxes - 1) / kBoxes, [&](std::int64_t block) {
      alignas(64) std::array<float, kBoxes * kShortRow> pairs;  // [column][box]
      const std::int64_t begin = block * kBoxes, count = std::min(kBoxes, rows - begin);
      for (std::int64_t j = 0; j < columns; ++j) {
        HWY_DYNAMIC_DISPATCH(ptiou_row)
        (dtype, false, second.columns.data() + j, second.count, first.columns.data() + begin,
         first.count, static_cast<std::size_t>(count), at(pairs.data(), dtype, j * kBoxes));
      }
      transpose_plane({.element_bytes = static_cast<int>(size_of(dtype)),
                       .na = count,
                       .nb = columns,
                       .from_stride = kBoxes,
                       .to_stride = columns,
                       .readable = kBoxes,
                       .valid = columns},
                      pairs.data(), at(args.outputs[0], dtype, begin * columns), false);
    });
  }

 private:
  static constexpr std::size_t kShortRow = 64;  // boxes
};

const RegisteredKernel ptiou{{
    .op = "pairwise_iou",
    .name = "ptiou",
    .provider = Provider::npu,
    .summary = "Iou: one pass in fp16, sides times 0.2, 0.01 added to those of areas; for sides "
               "up to 1280",
    .prepare = [](const Problem& problem) -> Launch { return Plan(problem); },
    .judged_as = DType::fp16,
}};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
