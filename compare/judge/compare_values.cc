#include "compare/judge/compare_values.h"

#include <algorithm>
#include <vector>

#include "compare/measure/measure_chunk.h"
#include "compare/measure/measure_values.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

const void* at(const void* elements, DType dtype, std::int64_t index) {
  return static_cast<const std::byte*>(elements) + static_cast<std::size_t>(index) * size_of(dtype);
}

}  // namespace

ValueComparison compare_values(const void* actual, DType actual_dtype, const void* expected,
                               DType expected_dtype, std::int64_t count, const Standard& standard,
                               const Dims& shape) {
  // The chunks of dumps: sums depend on them.
  const std::int64_t chunks = (count + kMeasureChunk - 1) / kMeasureChunk;
  std::vector<PairStats> parts(static_cast<std::size_t>(chunks));
  parallel_blocks(chunks, [&](std::int64_t i) {
    const std::int64_t first = i * kMeasureChunk;
    parts[static_cast<std::size_t>(i)] =
        measure_values({actual_dtype,
                        expected_dtype,
                        at(actual, actual_dtype, first),
                        at(expected, expected_dtype, first),
                        {first, std::min(kMeasureChunk, count - first)}},
                       standard.tolerance);
  });
  ValueComparison found;
  for (const PairStats& part : parts) found.stats.merge(part);
  found.judgement = judge(found.stats, standard, shape.empty() && count != 1 ? Dims{count} : shape);
  return found;
}

}  // namespace opbench
