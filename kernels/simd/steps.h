#pragma once

#include <cstdint>

#include "ops/quantise.h"

namespace opbench {

/// Stores fp32 results as steps, rounded and clipped; NaN becomes 0 in an integer.
void store_steps(const Steps& steps, const float* from, std::int64_t count, void* to);

/// Loads `count` elements of fp32, fp16, bf16, int32, int8, int4 or a float of one byte as fp32.
void load_numbers(DType dtype, const void* from, std::int64_t count, float* to);

/// The least and the greatest of some numbers; both are NaN if one is.
struct StepRange {
  float least, most;

  void add(const StepRange& other);
  float magnitude() const { return -least > most ? -least : most; }
};
StepRange range_of(const float* numbers, std::int64_t count);

/// numbers[i] = numbers[i]*factor[i].
void multiply(float* numbers, const float* factors, std::int64_t count);

/// The arithmetic that turns numbers into results.
enum class StepArithmetic { multiply, divide };

/// numbers[i] = numbers[i]*scale + offset, or numbers[i]/scale + offset.
void scale_numbers(StepArithmetic arithmetic, float scale, float offset, float* numbers,
                   std::int64_t count);
/// Like scale_numbers above, with a scale and an offset for each number.
void scale_numbers(StepArithmetic arithmetic, const float* scales, const float* offsets,
                   float* numbers, std::int64_t count);

}  // namespace opbench
