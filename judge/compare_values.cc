#include "judge/compare_values.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "judge/magnitudes.h"
#include "judge/measure_chunk.h"
#include "tensor/byte_float.h"
#include "tensor/parallel.h"
#include "tensor/random.h"

namespace opbench {
namespace {

// A random number from `from` to `to - 1`.
std::int64_t drawn(std::int64_t from, std::int64_t to) {
  const auto place = static_cast<std::uint64_t>(from);
  const std::uint32_t number =
      philox4x32({static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(place >> 32), 0, 0},
                 {0, 0})[0];
  return from + static_cast<std::int64_t>(number % static_cast<std::uint64_t>(to - from));
}

// Dumps have neither bf16 nor floats of one byte: they are measured as the equal fp32 numbers.
StoredType stored_as(DType dtype) {
  switch (dtype) {
    case DType::fp64:
      return StoredType::f64;
    case DType::fp32:
    case DType::bf16:
    case DType::fp8_e4m3fn:
    case DType::fp8_e5m2:
    case DType::hif8:
    case DType::e8m0:
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
    case DType::int4:
      return StoredType::i8;
    case DType::uint8:
    case DType::boolean:
      return StoredType::u8;
  }
  return StoredType::none;
}

// Elements in the form of `stored_as`, in their own memory or in `scratch`.
const void* stored(DType dtype, const void* values, std::int64_t count,
                   std::vector<float>& scratch) {
  if (dtype != DType::bf16 && !is_byte_float(dtype)) return values;
  scratch.resize(static_cast<std::size_t>(count));
  widen(dtype, values, scratch.data(), scratch.size());
  return scratch.data();
}

}  // namespace

SampledBlocks::SampledBlocks(const TensorDesc& desc, std::int64_t most_elements) : desc_(desc) {
  const std::int64_t all = block_count(desc), elements = desc.elements();
  std::int64_t wanted = all;
  if (elements > most_elements) {
    const double share = static_cast<double>(most_elements) / static_cast<double>(elements);
    wanted = std::max<std::int64_t>(3, static_cast<std::int64_t>(static_cast<double>(all) * share));
  }
  if (wanted >= all) {
    blocks_.resize(static_cast<std::size_t>(all));
    std::iota(blocks_.begin(), blocks_.end(), std::int64_t{0});
    return;
  }
  const std::int64_t runs = wanted - 2, between = all - 2;
  blocks_.push_back(0);
  for (std::int64_t i = 0; i < runs; ++i) {
    blocks_.push_back(drawn(1 + i * between / runs, 1 + (i + 1) * between / runs));
  }
  blocks_.push_back(all - 1);
}

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
  // Uses the chunks of dumps, since sums depend on them.
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
