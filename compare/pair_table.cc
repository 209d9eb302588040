#include "compare/pair_table.h"

#include <algorithm>

#include "compare/measure/measure_chunk.h"

namespace opbench {
namespace {

std::int64_t bytes_of(const DumpEntry& entry) {
  return entry.desc.elements() * static_cast<std::int64_t>(size_of(entry.stored));
}

}  // namespace

PairSide pair_side(DumpSource& file, const DumpEntry& entry) {
  return {entry.stored, entry.desc.dtype,
          [&file, &entry](ElementRange range, void* to) { file.read(entry, range, to); }};
}

std::size_t PairTable::add(DumpSource& actual, DumpSource& expected, const TensorMatch& match,
                           const Tolerance& tolerance) {
  const auto [place, is_new] = index_.try_emplace({match.actual, match.expected}, pairs_.size());
  if (!is_new) return place->second;
  pairs_.push_back({&actual, &expected, match, &tolerance});
  const std::int64_t bytes = bytes_of(*match.actual) + bytes_of(*match.expected);
  bytes_ += bytes;
  if (match.actual->desc.elements() <= kMeasureChunk) return place->second;
  reread_bytes_ += bytes;
  if (tolerance.follows_scale) bytes_ += bytes_of(*match.expected);
  return place->second;
}

void PairTable::measure(const MeasureOptions& options, const MeasureHooks& hooks,
                        const PairSink& done) {
  for (const auto& [sides, number] : index_) sorted_.push_back(static_cast<std::uint32_t>(number));
  index_.clear();
  measure_pairs(
      pairs_.size(), [this](std::size_t index) { return tensor_pair(index); }, options, hooks,
      done);
}

TensorPair PairTable::tensor_pair(std::size_t index) const {
  const Pair& pair = pairs_[index];
  return {pair_side(*pair.actual_file, *pair.match.actual),
          pair_side(*pair.expected_file, *pair.match.expected), pair.match.actual->desc.elements(),
          *pair.tolerance};
}

PairTable::Sides PairTable::sides(std::size_t index) const {
  return {pairs_[index].match.actual, pairs_[index].match.expected};
}

std::optional<std::size_t> PairTable::find(const TensorMatch& match) const {
  const Sides wanted{match.actual, match.expected};
  const auto found =
      std::lower_bound(sorted_.begin(), sorted_.end(), wanted,
                       [&](std::uint32_t index, const Sides& to) { return sides(index) < to; });
  if (found == sorted_.end() || sides(*found) != wanted) return std::nullopt;
  return *found;
}

}  // namespace opbench
