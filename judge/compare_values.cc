#include "judge/compare_values.h"

#include <algorithm>
#include <vector>

#include "judge/measure_chunk.h"
#include "judge/measure_values.h"
#include "tensor/parallel.h"

namespace opbench {

ValueComparison compare_parts(std::int64_t parts,
                              const std::function<PairStats(std::int64_t part)>& measure,
                              const Standard& standard, const JudgedTensor& tensor) {
  std::vector<PairStats> measured(static_cast<std::size_t>(parts));
  parallel_blocks(parts,
                  [&](std::int64_t i) { measured[static_cast<std::size_t>(i)] = measure(i); });
  ValueComparison found;
  for (const PairStats& part : measured) found.stats.merge(part);
  found.judgement = judge(found.stats, standard, tensor);
  found.formula = formula(standard, found.stats.scale);
  found.named = named_element(found.stats, standard);
  return found;
}

ValueComparison compare_values(const void* actual, DType actual_dtype, const void* expected,
                               DType expected_dtype, std::int64_t count, const Standard& standard,
                               const Dims& shape) {
  const bool follows = standard.tolerance.follows_scale;
  const double scale = follows ? scale_of(expected_dtype, expected, count) : 1;
  // The chunks of dumps: sums depend on them.
  const auto measure = [&](std::int64_t chunk) {
    const std::int64_t first = chunk * kMeasureChunk;
    return measure_values({actual_dtype,
                           expected_dtype,
                           at(actual, actual_dtype, first),
                           at(expected, expected_dtype, first),
                           {first, std::min(kMeasureChunk, count - first)}},
                          standard.tolerance, scale);
  };
  const Dims places = shape.empty() && count != 1 ? Dims{count} : shape;
  return compare_parts((count + kMeasureChunk - 1) / kMeasureChunk, measure, standard,
                       {places, actual_dtype});
}

}  // namespace opbench
