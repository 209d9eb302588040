#include "compare/pair_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "judge/measure_chunk.h"
#include "judge/pair_parts.h"
#include "tensor/buffer.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

std::int64_t bytes_of(const DumpEntry& entry) {
  return entry.desc.elements() * static_cast<std::int64_t>(size_of(entry.stored));
}

}  // namespace

PairSide pair_side(DumpSource& file, const DumpEntry& entry) {
  return {entry.stored, entry.desc.dtype,
          [&file, &entry](ElementRange range, void* to) { file.read(entry, range, to); },
          [&file, &entry](ElementRange range) { return file.is_hole(entry, range); }};
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
  sort();
  if (wants_digests_) digests_.resize(pairs_.size());
  measure_pairs(
      pairs_.size(), [this](std::size_t index) { return tensor_pair(index); }, options, hooks,
      done);
}

void PairTable::measure(Ranks& ranks, const MeasureOptions& options, const MeasureHooks& hooks,
                        const PairSink& done) {
  if (ranks.is_alone()) {
    return measure(options, hooks, done);
  }
  const PairParts::FindPair find = [this](std::size_t index) { return tensor_pair(index); };
  const int threads = thread_count();
  const UnitWork work = [&](std::string_view part) {
    std::string found;
    with_threads(threads, [&] { found = measure_part(part, find, options); });
    return found;
  };
  if (!ranks.is_first()) {
    serve(ranks, digest(), work);
    return;
  }
  dispatch_parts(ranks, find, work, options, hooks, done);
  sort();
}

void PairTable::dispatch_parts(Ranks& ranks, const PairParts::FindPair& find, const UnitWork& work,
                               const MeasureOptions& options, const MeasureHooks& hooks,
                               const PairSink& done) const {
  constexpr double kBytesPerSecond = 2e9;
  UnitQueue units;
  std::int64_t bytes_done = 0;
  PairParts parts(pairs_.size(), find, options, kRankPart, done);
  const auto hand_out = [&] {
    while (const auto part = parts.next()) {
      units.add(pack_all(*part), static_cast<double>(part->bytes) / kBytesPerSecond);
    }
  };
  hand_out();
  DispatchHooks dispatching;
  dispatching.stop = hooks.stop;
  dispatching.done = [&](std::size_t, const std::string& found) {
    Unpacker packed(found);
    const auto part = packed.get<PairPart>();
    parts.take(part, packed.get<PartMeasures>());
    hand_out();
    bytes_done += part.bytes;
    if (hooks.progress) hooks.progress(0, bytes_done + parts.hole_bytes());
  };
  dispatch(ranks, digest(), units, work, dispatching);
}

void PairTable::sort() {
  for (const auto& [sides, number] : index_) sorted_.push_back(static_cast<std::uint32_t>(number));
  index_.clear();
}

// Names, types and shapes of all pairs: ranks that read other files have another digest.
std::string PairTable::digest() const {
  std::string all;
  for (const Pair& pair : pairs_) {
    for (const DumpEntry* entry : {pair.match.actual, pair.match.expected}) {
      all += fmt::format("{} {} {} {}\n", entry->path, entry->stored_name, entry->desc.elements(),
                         entry->offset);
    }
  }
  return fmt::format("{} pairs, {:016x}", pairs_.size(), checksum(all.data(), all.size()));
}

// Ranges follow one another. A range that is read again is already in the digest.
PairSide PairTable::digested(PairSide side, Digest& digest) {
  const auto bytes = static_cast<std::int64_t>(size_of(side.stored));
  side.is_hole = {};  // whose bytes would be missing in the digest
  side.read = [read = std::move(side.read), bytes, &digest](ElementRange range, void* to) {
    read(range, to);
    if (range.first != digest.next) return;
    const std::uint64_t parts[] = {digest.state,
                                   checksum(to, static_cast<std::size_t>(range.count * bytes))};
    digest.state = checksum(parts, sizeof parts);
    digest.next += range.count;
  };
  return side;
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> PairTable::digests(std::size_t pair) const {
  if (pair >= digests_.size()) return std::nullopt;
  const std::int64_t count = pairs_[pair].match.actual->desc.elements();
  const auto& [actual, expected] = digests_[pair];
  if (actual.next != count || expected.next != count || count == 0) return std::nullopt;
  return std::pair(actual.state, expected.state);
}

TensorPair PairTable::tensor_pair(std::size_t index) const {
  const Pair& pair = pairs_[index];
  TensorPair made{pair_side(*pair.actual_file, *pair.match.actual),
                  pair_side(*pair.expected_file, *pair.match.expected),
                  pair.match.actual->desc.elements(), *pair.tolerance};
  if (!digests_.empty()) {
    made.actual = digested(std::move(made.actual), digests_[index].actual);
    made.expected = digested(std::move(made.expected), digests_[index].expected);
  }
  return made;
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
