#include "judge/measure_chunk.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "judge/measure_block.h"
#include "judge/measure_elements.h"

namespace opbench {
namespace {

const void* at(const void* elements, StoredType stored, std::int64_t index) {
  return static_cast<const std::byte*>(elements) +
         static_cast<std::size_t>(index) * size_of(stored);
}

// The elements of a chunk from `begin` on, at most one block.
PairChunk block_of(const PairChunk& chunk, std::int64_t begin) {
  PairChunk block = chunk;
  block.first += begin;
  block.count = std::min(kMeasureBlock, chunk.count - begin);
  block.actual = at(chunk.actual, chunk.rules->actual.stored, begin);
  block.expected = at(chunk.expected, chunk.rules->expected.stored, begin);
  return block;
}

// Values as float32, in their own memory if they already have this type.
const float* floats(const ValueKind& kind, const void* stored, std::int64_t count, float* scratch) {
  if (kind.stored == StoredType::f32 && kind.dtype != DType::boolean) {
    return static_cast<const float*>(stored);
  }
  values_to_floats(kind, stored, count, scratch);
  return scratch;
}

// Stored values as float32, without their real type, as in msaccucmp.
const float* stored_floats(const ValueKind& kind, const void* stored, std::int64_t count,
                           float* scratch) {
  return floats({kind.stored, DType::fp32}, stored, count, scratch);
}

bool are_exact(const double* values, std::int64_t count) {
  constexpr double kLargest = 0x1p53;
  return std::all_of(values, values + count, [](double v) { return std::fabs(v) < kLargest; });
}

// Measures values that exceed fp32. Whole numbers that also exceed fp64 are rare.
PairStats wide_stats(const PairChunk& block, const BlockPlace& place) {
  const PairRules& rules = *block.rules;
  double* const a = place.scratch.wide_actual;
  double* const e = place.scratch.wide_expected;
  values_to_doubles(rules.actual, block.actual, block.count, a);
  values_to_doubles(rules.expected, block.expected, block.count, e);
  if (is_integer(rules.actual) && is_integer(rules.expected) &&
      !(are_exact(a, block.count) && are_exact(e, block.count))) {
    double* const errors = place.scratch.errors;
    integer_errors(rules, block.count, block.actual, block.expected, place.scratch.integers,
                   errors);
    return measure_elements(rules, block.first, block.count, a, e, errors);
  }
  return measure_block(place, a, e);
}

bool both_fit_float(const PairRules& rules) {
  return fits_float(rules.actual) && fits_float(rules.expected);
}

bool is_equal(const PairRules& rules, const void* actual, const void* expected) {
  if (std::memcmp(actual, expected, size_of(rules.actual.stored)) == 0) return true;
  if (rules.tolerance.equality == Equality::bits) return false;
  double a = 0, e = 0;
  values_to_doubles(rules.actual, actual, 1, &a);
  values_to_doubles(rules.expected, expected, 1, &e);
  return std::isnan(a) && std::isnan(e);
}

// Counts elements with different bits as unequal, for any values.
void hold_to_bits(const PairChunk& block, PairStats& stats) {
  const PairRules& rules = *block.rules;
  const std::size_t size = size_of(rules.actual.stored);
  if (rules.tolerance.equality == Equality::value || rules.actual.stored != rules.expected.stored ||
      std::memcmp(block.actual, block.expected, static_cast<std::size_t>(block.count) * size) ==
          0) {
    return;
  }
  stats.unequal = 0;
  for (std::int64_t i = 0; i < block.count; ++i) {
    const void* const actual = at(block.actual, rules.actual.stored, i);
    const void* const expected = at(block.expected, rules.expected.stored, i);
    if (is_equal(rules, actual, expected)) continue;
    ++stats.unequal;
    if (stats.worst_abs.index >= 0) continue;
    stats.worst_abs.index = block.first + i;
    values_to_doubles(rules.actual, actual, 1, &stats.worst_abs.actual);
    values_to_doubles(rules.expected, expected, 1, &stats.worst_abs.expected);
  }
  stats.inside = stats.count - stats.unequal;
}

PairStats stats_of(const PairChunk& block, const BlockPlace& place) {
  const PairRules& rules = *block.rules;
  PairStats stats;
  if (both_fit_float(rules)) {
    stats =
        measure_block(place, floats(rules.actual, block.actual, block.count, place.scratch.actual),
                      floats(rules.expected, block.expected, block.count, place.scratch.expected));
  } else {
    stats = wide_stats(block, place);
  }
  hold_to_bits(block, stats);
  return stats;
}

BlockPlace place_of(const PairChunk& block, const PairStats& before, BlockScratch& scratch) {
  return {*block.rules, before, block.first, static_cast<std::size_t>(block.count), scratch};
}

ChunkMeasures measure_block(const PairChunk& block, const PairStats& before,
                            BlockScratch& scratch) {
  const PairRules& rules = *block.rules;
  const BlockPlace place = place_of(block, before, scratch);
  const float* x = stored_floats(rules.actual, block.actual, block.count, scratch.x);
  const float* y = stored_floats(rules.expected, block.expected, block.count, scratch.y);
  ChunkMeasures found;
  if (both_fit_float(rules) && means_what_it_stores(rules.actual) &&
      means_what_it_stores(rules.expected)) {
    found.stats = measure_block(place, x, y, &found.sums);
    hold_to_bits(block, found.stats);
  } else {
    found.sums = measure_block_sums(place, x, y);
    found.stats = stats_of(block, place);
  }
  return found;
}

BooleanCounts booleans_of(const PairChunk& block) {
  const auto* x = static_cast<const std::uint8_t*>(block.actual);
  const auto* y = static_cast<const std::uint8_t*>(block.expected);
  BooleanCounts counts{.count = block.count};
  for (std::int64_t i = 0; i < block.count; ++i) {
    counts.x_true += x[i] != 0;
    counts.y_true += y[i] != 0;
    counts.both_true += x[i] != 0 && y[i] != 0;
  }
  return counts;
}

bool both_boolean(const PairRules& rules) {
  return rules.actual.stored == StoredType::boolean && rules.expected.stored == StoredType::boolean;
}

}  // namespace

void ChunkMeasures::merge(const ChunkMeasures& later) {
  stats.merge(later.stats);
  sums.merge(later.sums);
  booleans.count += later.booleans.count;
  booleans.x_true += later.booleans.x_true;
  booleans.y_true += later.booleans.y_true;
  booleans.both_true += later.booleans.both_true;
}

ChunkMeasures measure_chunk(const PairChunk& chunk, BlockScratch& scratch) {
  ChunkMeasures measures;
  for (std::int64_t begin = 0; begin < chunk.count; begin += kMeasureBlock) {
    const PairChunk block = block_of(chunk, begin);
    ChunkMeasures found = measure_block(block, measures.stats, scratch);
    if (both_boolean(*chunk.rules)) found.booleans = booleans_of(block);
    measures.merge(found);
  }
  return measures;
}

PairStats measure_chunk_stats(const PairChunk& chunk, BlockScratch& scratch) {
  PairStats stats;
  for (std::int64_t begin = 0; begin < chunk.count; begin += kMeasureBlock) {
    const PairChunk block = block_of(chunk, begin);
    stats.merge(stats_of(block, place_of(block, stats, scratch)));
  }
  return stats;
}

KlScales kl_scales(const MsaccucmpSums& sums) {
  return {kl_scale(sums.x_min, sums.x_max), kl_scale(sums.y_min, sums.y_max)};
}

bool has_no_divergence(const MsaccucmpSums& sums) {
  return !std::isfinite(sums.x_min) || !std::isfinite(sums.x_max) || !std::isfinite(sums.y_min) ||
         !std::isfinite(sums.y_max);
}

void KlSums::merge(const KlSums& later) {
  x += later.x;
  y += later.y;
  log += later.log;
}

KlSums measure_chunk_kl(const PairChunk& chunk, const KlScales& scales, BlockScratch& scratch) {
  KlSums sums;
  for (std::int64_t begin = 0; begin < chunk.count; begin += kMeasureBlock) {
    const PairChunk block = block_of(chunk, begin);
    const float* x = stored_floats(chunk.rules->actual, block.actual, block.count, scratch.x);
    const float* y = stored_floats(chunk.rules->expected, block.expected, block.count, scratch.y);
    sums.merge(block_kl(scales, static_cast<std::size_t>(block.count), x, y));
  }
  return sums;
}

KlSums no_divergence() {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  return {kNan, kNan, kNan};
}

void set_kl(MsaccucmpSums& sums, const KlSums& second_pass) {
  sums.kl_x = second_pass.x;
  sums.kl_y = second_pass.y;
  sums.kl_log = second_pass.log;
}

}  // namespace opbench
