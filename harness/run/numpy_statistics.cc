#include "harness/run/numpy_statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "dump/number_text.h"
#include "judge/stored_values.h"
#include "tensor/half.h"

namespace opbench {
namespace {

// Pairwise summation: its error grows with the logarithm of the count.
template <class T>
T sum_of(std::span<const T> values) {
  constexpr std::size_t kBlock = 128;  // summed one by one, as in numpy's blocks
  if (values.size() <= kBlock) return std::accumulate(values.begin(), values.end(), T{0});
  const std::size_t half = values.size() / 2;
  return sum_of(values.first(half)) + sum_of(values.subspan(half));
}

double mean_of(StoredType type, const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  if (type != StoredType::f16 && type != StoredType::f32) {
    return sum_of(std::span(values)) / count;
  }
  const std::vector<float> floats(values.begin(), values.end());
  const float mean = sum_of(std::span(floats)) / static_cast<float>(count);
  return type == StoredType::f16 ? static_cast<float>(to_half(mean)) : mean;
}

bool is_float(StoredType type) {
  return type == StoredType::f16 || type == StoredType::f32 || type == StoredType::f64 ||
         type == StoredType::bf16;
}

}  // namespace

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
