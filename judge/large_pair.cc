#include "judge/large_pair.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "tensor/error.h"

namespace opbench {
namespace {

// All of them but the histogram's counts.
template <class Stats, class Visit>
void for_each_number(Stats& stats, Visit visit) {
  visit(stats.count), visit(stats.actual), visit(stats.expected);
  visit(stats.nan_mismatches), visit(stats.inf_mismatches), visit(stats.first_mismatch);
  visit(stats.mismatch_actual), visit(stats.mismatch_expected);
  visit(stats.unequal), visit(stats.inside), visit(stats.beyond_limit);
  visit(stats.worst_abs), visit(stats.worst_rel);
  visit(stats.worst_outside), visit(stats.worst_beyond);
  visit(stats.sum_abs), visit(stats.sum_rel);
  visit(stats.sum_sq), visit(stats.sum_expected_sq), visit(stats.sum_actual_sq);
  visit(stats.sum_product), visit(stats.max_ulp), visit(stats.sum_ulp);
  visit(stats.min_tolerance), visit(stats.scale), visit(stats.histogram.exact);
}

void pack(Packer& packer, const PairStats& stats) {
  for_each_number(stats, [&](const auto& number) { packer.add(number); });
  for (std::size_t i = 0; i < ErrorHistogram::kBuckets; ++i) {
    if (const std::int64_t count = stats.histogram.counts[i]; count != 0) {
      packer.add(static_cast<std::uint8_t>(i));
      packer.add(count);
    }
  }
  packer.add(std::uint8_t{ErrorHistogram::kBuckets});
}

PairStats unpack_stats(Unpacker& packed) {
  PairStats stats;
  for_each_number(stats, [&](auto& number) {
    number = packed.get<std::remove_reference_t<decltype(number)>>();
  });
  while (true) {
    const auto bucket = packed.get<std::uint8_t>();
    if (bucket >= ErrorHistogram::kBuckets) return stats;
    stats.histogram.counts.add(bucket, packed.get<std::int64_t>());
  }
}

}  // namespace

PassMeasures measure_pass(Pass pass, const PairChunk& chunk, const KlScales& scales,
                          BlockScratch& scratch) {
  PassMeasures found;
  switch (pass) {
    case Pass::scale:
      found.magnitudes.add(chunk.rules->expected, chunk.expected, chunk.count, false);
      break;
    case Pass::metrics:
      found.metrics = measure_chunk(chunk, scratch);
      break;
    case Pass::divergence:
      found.divergence = measure_chunk_kl(chunk, scales, scratch);
      break;
  }
  return found;
}

bool is_hole(const TensorPair& pair, ElementRange range) {
  if (range.count != kMeasureChunk || !pair.actual.is_hole || !pair.expected.is_hole) return false;
  try {
    return pair.actual.is_hole(range) && pair.expected.is_hole(range);
  } catch (const Error&) {
    return false;  // reading says why
  }
}

namespace {

PassMeasures measure_hole(Pass pass, const PairRules& rules, const KlScales& scales,
                          BlockScratch& scratch) {
  const auto zeros = [](StoredType stored) {
    return std::vector<std::byte>(static_cast<std::size_t>(kMeasureChunk) * size_of(stored));
  };
  const auto actual = zeros(rules.actual.stored), expected = zeros(rules.expected.stored);
  return measure_pass(pass, {&rules, 0, kMeasureChunk, actual.data(), expected.data()}, scales,
                      scratch);
}

}  // namespace

void LargePair::begin(TensorPair of) {
  rules = rules_of(of);
  pair = std::move(of);
  begin_pass(rules.tolerance.follows_scale ? Pass::scale : Pass::metrics);
}

void LargePair::begin_pass(Pass next_pass) {
  pass = next_pass;
  next = merged = 0;
  end = pair.count;
  has_hole = false;
}

void LargePair::merge(const PassMeasures& found) {
  if (pass == Pass::scale) magnitudes.merge(found.magnitudes);
  if (pass == Pass::metrics) measures.merge(found.metrics);
  if (pass == Pass::divergence) second_pass.merge(found.divergence);
}

void LargePair::merge_hole(BlockScratch& scratch) {
  if (!std::exchange(has_hole, true)) of_hole = measure_hole(pass, rules, scales, scratch);
  merge(of_hole);
}

std::optional<Pass> LargePair::end_pass(bool wants_kl) {
  MsaccucmpSums& sums = measures.sums;
  if (pass == Pass::scale) {
    set_scale(rules, magnitudes.scale());
    magnitudes = {};
    return Pass::metrics;
  }
  if (pass == Pass::divergence) {
    set_kl(sums, second_pass);
  } else if (wants_kl && !has_no_divergence(sums)) {
    scales = kl_scales(sums);
    return Pass::divergence;
  } else if (wants_kl) {
    set_kl(sums, no_divergence());
  }
  return std::nullopt;
}

PairRules rules_of(const TensorPair& pair) {
  return pair_rules({pair.actual.stored, pair.actual.dtype},
                    {pair.expected.stored, pair.expected.dtype}, pair.tolerance);
}

PairMeasures measures_of(ChunkMeasures&& found) {
  PairMeasures measures;
  measures.stats = std::move(found.stats);
  measures.sums = found.sums;
  measures.booleans = found.booleans;
  measures.is_done = true;
  return measures;
}

PairMeasures failed_measures(std::string error) {
  PairMeasures measures;
  measures.error = std::move(error);
  measures.is_done = true;
  return measures;
}

void pack(Packer& packer, const PairMeasures& measures) {
  packer.add(measures.sums);
  packer.add(measures.booleans);
  packer.add(measures.error);
  packer.add(measures.is_done);
  pack(packer, measures.stats);
}

PairMeasures unpack_pair_measures(Unpacker& packed) {
  PairMeasures measures;
  measures.sums = packed.get<MsaccucmpSums>();
  measures.booleans = packed.get<BooleanCounts>();
  measures.error = packed.get_text();
  measures.is_done = packed.get<bool>();
  measures.stats = unpack_stats(packed);
  return measures;
}

void pack(Packer& packer, Pass pass, const PassMeasures& found) {
  switch (pass) {
    case Pass::scale:
      return found.magnitudes.pack(packer);
    case Pass::metrics:
      packer.add(found.metrics.sums);
      packer.add(found.metrics.booleans);
      return pack(packer, found.metrics.stats);
    case Pass::divergence:
      return packer.add(found.divergence);
  }
}

PassMeasures unpack_pass_measures(Unpacker& packed, Pass pass) {
  PassMeasures found;
  switch (pass) {
    case Pass::scale:
      found.magnitudes.unpack(packed);
      break;
    case Pass::metrics:
      found.metrics.sums = packed.get<MsaccucmpSums>();
      found.metrics.booleans = packed.get<BooleanCounts>();
      found.metrics.stats = unpack_stats(packed);
      break;
    case Pass::divergence:
      found.divergence = packed.get<KlSums>();
      break;
  }
  return found;
}

}  // namespace opbench
