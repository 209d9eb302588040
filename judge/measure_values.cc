#include "judge/measure_values.h"

#include <memory>
#include <vector>

#include "judge/magnitudes.h"
#include "judge/measure_chunk.h"
#include "tensor/half.h"

namespace opbench {
namespace {

// Dumps hold no bf16: it is measured as the fp32 numbers that it stands for.
StoredType stored_as(DType dtype) {
  switch (dtype) {
    case DType::fp64:
      return StoredType::f64;
    case DType::fp32:
    case DType::bf16:
      return StoredType::f32;
    case DType::fp16:
      return StoredType::f16;
    case DType::int64:
      return StoredType::i64;
    case DType::int32:
      return StoredType::i32;
    case DType::int16:
      return StoredType::i16;
    case DType::int8:
      return StoredType::i8;
    case DType::uint8:
    case DType::boolean:
      return StoredType::u8;
  }
  return StoredType::none;
}

// Elements as `stored_as` says, where they lie or in `scratch`.
const void* stored(DType dtype, const void* values, std::int64_t count,
                   std::vector<float>& scratch) {
  if (dtype != DType::bf16) return values;
  scratch.resize(static_cast<std::size_t>(count));
  widen(static_cast<const bfloat16*>(values), scratch.data(), scratch.size());
  return scratch.data();
}

}  // namespace

PairStats measure_values(const ValuePair& values, const Tolerance& tolerance, double scale) {
  thread_local const auto scratch = std::make_unique<BlockScratch>();
  thread_local std::vector<float> actual, expected;
  const std::int64_t count = values.range.count;
  PairRules rules =
      pair_rules({stored_as(values.actual_dtype), values.actual_dtype},
                 {stored_as(values.expected_dtype), values.expected_dtype}, tolerance);
  if (tolerance.follows_scale) set_scale(rules, scale);
  const PairChunk chunk{&rules, values.range.first, count,
                        stored(values.actual_dtype, values.actual, count, actual),
                        stored(values.expected_dtype, values.expected, count, expected)};
  return measure_chunk_stats(chunk, *scratch);
}

double scale_of(DType dtype, const void* values, std::int64_t count) {
  Magnitudes magnitudes;
  std::vector<float> scratch;
  magnitudes.add({stored_as(dtype), dtype}, stored(dtype, values, count, scratch), count, true);
  return magnitudes.scale();
}

}  // namespace opbench
