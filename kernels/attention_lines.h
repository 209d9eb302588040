#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace opbench {

/// Lines of fp32 begin at multiples of this many elements.
inline constexpr std::int64_t kAttentionLanes = 16;

inline std::int64_t attention_step(std::int64_t width) {
  return (width + kAttentionLanes - 1) / kAttentionLanes * kAttentionLanes;
}

/// Keys or values: `count` lines of `width` elements, `step` elements apart.
struct KeyLines {
  DType dtype;
  const void* first;
  std::int64_t count, width, step;
};

/// fp32 lines `step` elements apart. Elements of queries after their width are 0.
struct FloatLines {
  float* first;
  std::int64_t count, step;

  float* line(std::int64_t i) const { return first + i * step; }
};

/// scores[r][k] = query r times key k, or that much more.
void attention_scores(const FloatLines& queries, const KeyLines& keys, const FloatLines& scores,
                      bool accumulate);

/// out[r] += the sum of shares[r][k] times value k.
void add_attention_values(const FloatLines& shares, const KeyLines& values, const FloatLines& out);

/// The greatest score of a line.
float greatest_score(const float* scores, std::int64_t count);

/// The scores become exp(score - greatest); returns their sum.
float attention_exponentials(float* scores, std::int64_t count, float greatest);

/// line *= factor
void scale_line(float* line, std::int64_t count, float factor);

/// to = line/divisor, rounded to the dtype.
void divide_line(DType dtype, const float* line, std::int64_t count, float divisor, void* to);

/// Rounds the elements to the dtype.
void round_line(DType dtype, float* line, std::int64_t count);

/// Elements as fp32, and zeros up to the step.
void load_query_line(DType dtype, const void* from, std::int64_t width, float* to);

}  // namespace opbench
