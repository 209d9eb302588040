#include "judge/pair_parts.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace opbench {
namespace {

constexpr std::size_t kMostPairs = 256;

std::int64_t bytes_of(const TensorPair& pair, Pass pass, std::int64_t count) {
  const std::size_t actual = pass == Pass::scale ? 0 : size_of(pair.actual.stored);
  return count * static_cast<std::int64_t>(actual + size_of(pair.expected.stored));
}

// The thread that reads an unavailable pair reports it.
TensorPair pair_or_nothing(const PairParts::FindPair& find, std::size_t index) {
  try {
    TensorPair pair = find(index);
    rules_of(pair);
    return pair;
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace

PairParts::PairParts(std::size_t count, const FindPair& pair, const MeasureOptions& options,
                     PartSize size, PairSink done)
    : count_(count), pair_(pair), options_(options), size_(size), done_(std::move(done)) {}

std::optional<PairPart> PairParts::next(bool begins) {
  while (true) {
    std::optional<PairPart> part;
    if (!unread_.empty()) {
      part = next_chunks();
    } else if (begins && next_ < count_) {
      part = next_pairs();
    } else {
      return std::nullopt;
    }
    if (part) return part;
  }
}

// Small pairs; none if the next pair is large, which then is begun.
std::optional<PairPart> PairParts::next_pairs() {
  PairPart part;
  for (; next_ < count_ && part.pairs.size() < kMostPairs; ++next_) {
    TensorPair pair = pair_or_nothing(pair_, next_);
    const std::int64_t bytes = bytes_of(pair, Pass::metrics, pair.count);
    const bool is_large = pair.count > kMeasureChunk;
    if (!part.pairs.empty() && (is_large || part.bytes + bytes > size_.bytes)) break;
    if (is_large) {
      open_[next_].large.begin(std::move(pair));
      unread_.push_back(next_++);
      return std::nullopt;
    }
    part.pairs.push_back(next_);
    part.bytes += bytes;
  }
  return part;
}

// Chunks that follow one another; none if they are a hole, which then is joined.
std::optional<PairPart> PairParts::next_chunks() {
  const std::size_t index = unread_.back();
  LargePair& large = open_.at(index).large;
  const auto count = [&] { return std::min(kMeasureChunk, large.end - large.next); };
  const auto is_at_hole = [&] { return is_hole(large.pair, {large.next, count()}); };
  PairPart part{.pairs = {index},
                .range = {large.next, 0},
                .pass = large.pass,
                .scale = large.rules.scale,
                .scales = large.scales};
  const bool is_in_hole = is_at_hole();
  do {
    part.range.count += count();
    large.next += count();
  } while (large.next < large.end && (is_in_hole || part.range.count < size_.elements) &&
           is_at_hole() == is_in_hole);
  part.bytes = bytes_of(large.pair, large.pass, part.range.count);
  if (large.next == large.end) unread_.pop_back();
  if (!is_in_hole) return part;
  hole_bytes_ += part.bytes;
  put(index, part.range.first, {part.range.count});
  return std::nullopt;
}

void PairParts::take(const PairPart& part, PartMeasures&& found) {
  if (part.is_large()) {
    return put(part.pairs.front(), part.range.first, {part.range.count, std::move(found)});
  }
  for (std::size_t i = 0; i < part.pairs.size(); ++i)
    done_(part.pairs[i], std::move(found.pairs[i]));
}

// Joins all chunks that are next in order. Begins the next pass, or completes the pair, once all
// chunks of a pass are joined.
void PairParts::put(std::size_t index, std::int64_t first, Run run) {
  Open& open = open_.at(index);
  LargePair& large = open.large;
  open.waiting.emplace(first, std::move(run));
  for (auto at = open.waiting.begin(); at != open.waiting.end() && at->first == large.merged;
       at = open.waiting.erase(at)) {
    join(open, at->second);
  }
  if (!open.error.empty()) {
    large.end = large.next;
    std::erase(unread_, index);
  }
  if (large.merged < large.end) return;
  if (!open.error.empty()) {
    done_(index, failed_measures(std::move(open.error)));
  } else if (const auto pass = large.end_pass(options_.wants_kl)) {
    large.begin_pass(*pass);
    unread_.push_back(index);
    return;
  } else {
    done_(index, measures_of(std::move(large.measures)));
  }
  open_.erase(index);
}

void PairParts::join(Open& open, Run& run) {
  LargePair& large = open.large;
  large.merged += run.count;
  if (open.error.empty()) open.error = std::move(run.found.error);
  if (!open.error.empty()) return;
  for (std::int64_t i = 0; run.found.chunks.empty() && i < run.count; i += kMeasureChunk) {
    large.merge_hole(*scratch_);
  }
  for (Unpacker packed(run.found.chunks); !packed.is_empty();) {
    large.merge(packed.get<PassMeasures>());
  }
}

}  // namespace opbench
