// Parts of attention on a few queries at once: each key and each value is loaded once for four of
// them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention_lines.cc"
#include "kernels/attention_lines.h"

#include <hwy/foreach_target.h>

#include <algorithm>

#include "kernels/simd/cube.h"
#include "kernels/softmax-inl.h"
#include "tensor/half.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

// Elements from `i` on: a vector, or the last `width - i` followed by zeros.
template <class T>
HWY_INLINE hn::Vec<SumVector> elements_from(SumVector d, const T* line, std::int64_t i,
                                            std::int64_t width) {
  const auto n = static_cast<std::int64_t>(hn::Lanes(d));
  if (i + n <= width) return load_as(d, line + i);
  return load_first(d, line + i, static_cast<std::size_t>(width - i), 0);
}

template <int kRows, class T>
void scores_of(const FloatLines& queries, const KeyLines& keys, const FloatLines& scores,
               bool accumulate) {
  const SumVector d;
  const auto n = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t k = 0; k < keys.count; ++k) {
    const T* const key = static_cast<const T*>(keys.first) + k * keys.step;
    hn::Vec<SumVector> sums[kRows];
    for (int r = 0; r < kRows; ++r) sums[r] = hn::Zero(d);
    for (std::int64_t i = 0; i < keys.width; i += n) {
      const auto x = elements_from(d, key, i, keys.width);
      for (int r = 0; r < kRows; ++r) {
        sums[r] = hn::MulAdd(hn::LoadU(d, queries.line(r) + i), x, sums[r]);
      }
    }
    for (int r = 0; r < kRows; ++r) {
      float& score = scores.line(r)[k];
      score = sum_of_halves(d, sums[r]) + (accumulate ? score : 0);
    }
  }
}

template <int kRows, class T>
void values_of(const FloatLines& shares, const KeyLines& values, const FloatLines& out) {
  const SumVector d;
  const auto n = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < values.width; i += n) {
    hn::Vec<SumVector> sums[kRows];
    for (int r = 0; r < kRows; ++r) sums[r] = hn::LoadU(d, out.line(r) + i);
    for (std::int64_t k = 0; k < values.count; ++k) {
      const T* const value = static_cast<const T*>(values.first) + k * values.step;
      const auto x = elements_from(d, value, i, values.width);
      for (int r = 0; r < kRows; ++r) {
        sums[r] = hn::MulAdd(hn::Set(d, shares.line(r)[k]), x, sums[r]);
      }
    }
    for (int r = 0; r < kRows; ++r) hn::StoreU(sums[r], d, out.line(r) + i);
  }
}

// Calls body(rows, first) for groups of four lines, then of one; `rows` is a constant.
template <class Body>
void for_groups(std::int64_t count, Body body) {
  std::int64_t first = 0;
  for (; first + 4 <= count; first += 4) body(std::integral_constant<int, 4>(), first);
  for (; first < count; ++first) body(std::integral_constant<int, 1>(), first);
}

FloatLines lines_from(const FloatLines& lines, std::int64_t first) {
  return {lines.line(first), lines.count - first, lines.step};
}

}  // namespace

void scores_in_groups(const FloatLines& queries, const KeyLines& keys, const FloatLines& scores,
                      bool accumulate) {
  visit_arithmetic(keys.dtype, [&](auto tag) {
    for_groups(queries.count, [&](auto rows, std::int64_t first) {
      scores_of<decltype(rows)::value, decltype(tag)>(lines_from(queries, first), keys,
                                                      lines_from(scores, first), accumulate);
    });
  });
}

void values_in_groups(const FloatLines& shares, const KeyLines& values, const FloatLines& out) {
  visit_arithmetic(values.dtype, [&](auto tag) {
    for_groups(shares.count, [&](auto rows, std::int64_t first) {
      values_of<decltype(rows)::value, decltype(tag)>(lines_from(shares, first), values,
                                                      lines_from(out, first));
    });
  });
}

float greatest_in_lanes(const float* scores, std::int64_t count) {
  return greatest_of(scores, count);
}

float exponentials_in_lanes(float* scores, std::int64_t count, float greatest) {
  return exp_and_sum(scores, count, greatest, scores);
}

void scale_in_lanes(float* line, std::int64_t count, float factor) {
  map_line(Times{factor}, count, line, line);
}

void divide_in_lanes(DType dtype, const float* line, std::int64_t count, float divisor, void* to) {
  visit_arithmetic(dtype, [&](auto tag) {
    map_line(Quotient{divisor}, count, static_cast<decltype(tag)*>(to), line);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(scores_in_groups);
HWY_EXPORT(values_in_groups);
HWY_EXPORT(greatest_in_lanes);
HWY_EXPORT(exponentials_in_lanes);
HWY_EXPORT(scale_in_lanes);
HWY_EXPORT(divide_in_lanes);

}  // namespace

void attention_scores(const FloatLines& queries, const KeyLines& keys, const FloatLines& scores,
                      bool accumulate) {
  HWY_DYNAMIC_DISPATCH(scores_in_groups)(queries, keys, scores, accumulate);
}

void add_attention_values(const FloatLines& shares, const KeyLines& values, const FloatLines& out) {
  HWY_DYNAMIC_DISPATCH(values_in_groups)(shares, values, out);
}

float greatest_score(const float* scores, std::int64_t count) {
  return HWY_DYNAMIC_DISPATCH(greatest_in_lanes)(scores, count);
}

float attention_exponentials(float* scores, std::int64_t count, float greatest) {
  return HWY_DYNAMIC_DISPATCH(exponentials_in_lanes)(scores, count, greatest);
}

void scale_line(float* line, std::int64_t count, float factor) {
  HWY_DYNAMIC_DISPATCH(scale_in_lanes)(line, count, factor);
}

void divide_line(DType dtype, const float* line, std::int64_t count, float divisor, void* to) {
  HWY_DYNAMIC_DISPATCH(divide_in_lanes)(dtype, line, count, divisor, to);
}

void round_line(DType dtype, float* line, std::int64_t count) {
  constexpr std::int64_t kPiece = 256;
  std::uint16_t piece[kPiece];
  for (std::int64_t i = 0; dtype != DType::fp32 && i < count; i += kPiece) {
    const std::int64_t part = std::min(kPiece, count - i);
    store_floats(dtype, line + i, part, piece);
    load_floats(dtype, piece, part, line + i);
  }
}

void load_query_line(DType dtype, const void* from, std::int64_t width, float* to) {
  load_floats(dtype, from, width, to);
  std::fill_n(to + width, attention_step(width) - width, 0.0f);
}

}  // namespace opbench
#endif  // HWY_ONCE
