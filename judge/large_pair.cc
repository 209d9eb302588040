#include "judge/large_pair.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "tensor/error.h"

namespace opbench {
PassMeasures measure_pass(Pass pass, const PairChunk& chunk, const KlScales& scales,
                          BlockScratch& scratch) {
  PassMeasures found;
  found.pass = pass;
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
  if (pair.actual.stored == StoredType::none || pair.expected.stored == StoredType::none) {
    throw Error("elements of no known type cannot be measured");
  }
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

}  // namespace opbench
