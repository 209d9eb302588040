#include "harness/run/numpy_statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "dump/number_text.h"
#include "judge/stored_values.h"
#include "tensor/elements.h"

namespace opbench {
namespace {

template <class T>
T pairwise(const T* values, std::size_t count) {
  constexpr std::size_t kLanes = 8, kBlock = 128;
  if (count < kLanes) {
    T sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += values[i];
    return sum;
  }
  if (count <= kBlock) {
    T lanes[kLanes];
    std::copy_n(values, kLanes, lanes);
    std::size_t i = kLanes;
    for (; i < count - count % kLanes; i += kLanes) {
      for (std::size_t k = 0; k < kLanes; ++k) lanes[k] += values[i + k];
    }
    T sum = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
            ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
    for (; i < count; ++i) sum += values[i];
    return sum;
  }
  std::size_t half = count / 2;
  half -= half % kLanes;
  return pairwise(values, half) + pairwise(values + half, count - half);
}

// numpy casts float16 in pieces of its buffer.
double mean_of(StoredType type, const std::vector<double>& values) {
  constexpr std::size_t kBuffer = 8192;
  const auto count = static_cast<double>(values.size());
  if (type != StoredType::f16 && type != StoredType::f32) {
    return pairwise(values.data(), values.size()) / count;
  }
  const std::vector<float> floats(values.begin(), values.end());
  const std::size_t piece = type == StoredType::f16 ? kBuffer : floats.size();
  float sum = 0;
  for (std::size_t i = 0; i < floats.size(); i += piece) {
    sum += pairwise(floats.data() + i, std::min(piece, floats.size() - i));
  }
  const float mean = sum / static_cast<float>(count);
  if (type != StoredType::f16) return mean;
  double rounded = mean;
  std::uint16_t bits = 0;
  from_doubles(DType::fp16, &rounded, 1, &bits);
  to_doubles(DType::fp16, &bits, 1, &rounded);
  return rounded;
}

bool is_float(StoredType type) {
  return type == StoredType::f16 || type == StoredType::f32 || type == StoredType::f64 ||
         type == StoredType::bf16;
}

}  // namespace

float pairwise_sum(std::span<const float> values) { return pairwise(values.data(), values.size()); }
double pairwise_sum(std::span<const double> values) {
  return pairwise(values.data(), values.size());
}

NumpyStatistics numpy_statistics(StoredType type, const void* elements, std::int64_t count) {
  if (count == 0) return {"nan", "nan", "nan"};
  std::vector<double> values(static_cast<std::size_t>(count));
  values_to_doubles({type, DType::fp32}, elements, count, values.data());
  const auto nan =
      std::find_if(values.begin(), values.end(), [](double v) { return std::isnan(v); });
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double max = nan != values.end() ? *nan : *most, min = nan != values.end() ? *nan : *least;
  const auto text = [&](double value) {
    if (is_float(type)) return scalar_text(value, type);
    if (type == StoredType::boolean) return scalar_text(value != 0, type);
    return scalar_text(static_cast<std::int64_t>(value), type);
  };
  const StoredType mean_type = is_float(type) ? type : StoredType::f64;
  return {text(max), text(min), scalar_text(mean_of(type, values), mean_type)};
}

}  // namespace opbench
