#include "compare/pair_table.h"

#include "compare/measure/measure_chunk.h"

namespace opbench {
namespace {

std::int64_t bytes_of(const DumpEntry& entry) {
  return entry.desc.elements() * static_cast<std::int64_t>(size_of(entry.stored));
}

}  // namespace

PairSide pair_side(DumpFile& file, const DumpEntry& entry) {
  return {entry.stored, entry.desc.dtype,
          [&file, &entry](ElementRange range, void* to) { file.read(entry, range, to); }};
}

void PairTable::add(DumpFile& actual, DumpFile& expected, const TensorMatch& match,
                    const Tolerance& tolerance) {
  if (!index_.try_emplace({match.actual, match.expected}, pairs_.size()).second) return;
  pairs_.push_back({&actual, &expected, match, tolerance});
  const std::int64_t bytes = bytes_of(*match.actual) + bytes_of(*match.expected);
  bytes_ += bytes;
  if (match.actual->desc.elements() <= kMeasureChunk) return;
  reread_bytes_ += bytes;
  if (tolerance.follows_scale) bytes_ += bytes_of(*match.expected);
}

void PairTable::measure(const MeasureOptions& options, const MeasureHooks& hooks) {
  measures_ = measure_pairs(
      pairs_.size(), [this](std::size_t index) { return tensor_pair(index); }, options, hooks);
}

TensorPair PairTable::tensor_pair(std::size_t index) const {
  const Pair& pair = pairs_[index];
  return {pair_side(*pair.actual_file, *pair.match.actual),
          pair_side(*pair.expected_file, *pair.match.expected), pair.match.actual->desc.elements(),
          pair.tolerance};
}

const PairMeasures* PairTable::find(const TensorMatch& match) const {
  const auto found = index_.find({match.actual, match.expected});
  return found == index_.end() ? nullptr : &measures_[found->second];
}

}  // namespace opbench
