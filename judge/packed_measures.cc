#include "judge/packed_measures.h"

#include <cstdint>

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
  visit(stats.sum_abs), visit(stats.sum_rel), visit(stats.sum_expected_abs);
  visit(stats.sum_open_abs), visit(stats.masked);
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
