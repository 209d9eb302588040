#include "judge/pair_parts.h"

#include <algorithm>
#include <utility>

#include "judge/large_pair.h"
#include "tensor/error.h"

namespace opbench {
namespace {

// Of both sides, of small pairs in one part: some ten milliseconds of reading.
constexpr std::int64_t kSmallBytes = std::int64_t{16} << 20;
constexpr std::size_t kMostPairs = 256;
// Chunks of a large pair in one part.
constexpr std::int64_t kPartElements = 16 * kMeasureChunk;

std::int64_t bytes_of(const TensorPair& pair, std::int64_t count) {
  return count *
         static_cast<std::int64_t>(size_of(pair.actual.stored) + size_of(pair.expected.stored));
}

// A pair that is not to be had is told by whoever measures it.
TensorPair pair_or_nothing(const PairParts::FindPair& find, std::size_t index) {
  try {
    return find(index);
  } catch (const Error&) {
    return {};
  }
}

std::string small_part(const std::vector<std::size_t>& pairs) {
  Packer packer;
  packer.add(true);
  for (const std::size_t pair : pairs) packer.add(static_cast<std::uint64_t>(pair));
  return packer.take();
}

}  // namespace

PairParts::PairParts(std::size_t count, const FindPair& pair, const MeasureOptions& options,
                     PartSink parts, PairSink done)
    : count_(count),
      pair_(pair),
      options_(options),
      parts_(std::move(parts)),
      done_(std::move(done)) {}

void PairParts::begin() {
  std::vector<std::size_t> small;
  std::int64_t bytes = 0;
  const auto hand_out = [&] {
    if (!small.empty()) parts_(small_part(small), bytes);
    small.clear();
    bytes = 0;
  };
  for (std::size_t i = 0; i < count_; ++i) {
    TensorPair pair = pair_or_nothing(pair_, i);
    if (pair.count > kMeasureChunk) {
      Open& open = open_[i];
      open.large.index = i;
      open.large.begin(std::move(pair));
      begin_pass(i, open);
      advance(i, open);
      continue;
    }
    small.push_back(i);
    bytes += bytes_of(pair, pair.count);
    if (small.size() == kMostPairs || bytes >= kSmallBytes) hand_out();
  }
  hand_out();
}

// Chunks that follow one another go together: holes, and what is to be read.
void PairParts::begin_pass(std::size_t index, Open& open) {
  const TensorPair& pair = open.large.pair;
  open.answered = 0;
  Run run;
  const auto end_run = [&](std::int64_t end) {
    const ElementRange range{end - run.count, run.count};
    if (run.is_hole) {
      hole_bytes_ += bytes_of(pair, run.count);
      open.answered += run.count;
      open.waiting.emplace(range.first, run);
    } else if (run.count > 0) {
      hand_out(index, open, range);
    }
    run = {};
  };
  for (std::int64_t first = 0; first < pair.count; first += kMeasureChunk) {
    const std::int64_t count = std::min(kMeasureChunk, pair.count - first);
    const bool is_in_hole = is_hole(pair, {first, count});
    if (is_in_hole != run.is_hole || (!run.is_hole && run.count == kPartElements)) end_run(first);
    run.is_hole = is_in_hole;
    run.count += count;
  }
  end_run(pair.count);
}

void PairParts::hand_out(std::size_t index, const Open& open, ElementRange range) {
  const LargePair& large = open.large;
  Packer packer;
  packer.add(false);
  packer.add(static_cast<std::uint64_t>(index));
  packer.add(large.pass);
  packer.add(range.first);
  packer.add(range.count);
  packer.add(large.rules.scale);
  packer.add(large.scales);
  parts_(packer.take(), bytes_of(large.pair, range.count));
}

void PairParts::take(std::string_view found) {
  const bool is_small = Unpacker(found).get<bool>();
  found.remove_prefix(sizeof is_small);
  if (is_small)
    take_small(found);
  else
    take_large(found);
}

void PairParts::take_small(std::string_view found) {
  for (Unpacker packed(found); !packed.is_empty();) {
    const auto index = static_cast<std::size_t>(packed.get<std::uint64_t>());
    done_(index, unpack_pair_measures(packed));
  }
}

void PairParts::take_large(std::string_view found) {
  Unpacker packed(found);
  const auto index = static_cast<std::size_t>(packed.get<std::uint64_t>());
  const auto first = packed.get<std::int64_t>();
  const auto count = packed.get<std::int64_t>();
  std::string error = packed.get_text();
  std::string measures = packed.get_text();
  Open& open = open_.at(index);
  open.answered += count;
  if (!error.empty() && (open.error.empty() || first < open.error_at)) {
    open.error = std::move(error);
    open.error_at = first;
  }
  open.waiting.emplace(first, Run{.count = count, .measures = std::move(measures)});
  advance(index, open);
}

// A pass of holes alone waits for nobody.
void PairParts::advance(std::size_t index, Open& open) {
  do {
    if (open.error.empty()) merge_waiting(open);
  } while (open.answered == open.large.pair.count && end_pass(index, open));
}

// What is next in order, as far as it is there.
void PairParts::merge_waiting(Open& open) {
  LargePair& large = open.large;
  for (auto at = open.waiting.begin(); at != open.waiting.end() && at->first == large.merged;
       at = open.waiting.erase(at)) {
    const Run& run = at->second;
    for (std::int64_t i = 0; run.is_hole && i < run.count; i += kMeasureChunk) {
      large.merge_hole(*scratch_);
    }
    for (Unpacker packed(run.measures); !packed.is_empty();) {
      large.merge(unpack_pass_measures(packed, large.pass));
    }
    large.merged += run.count;
  }
}

// True if another pass has begun, false if the pair is done.
bool PairParts::end_pass(std::size_t index, Open& open) {
  if (!open.error.empty()) {
    done_(index, failed_measures(std::move(open.error)));
  } else if (const auto pass = open.large.end_pass(options_.wants_kl)) {
    open.large.begin_pass(*pass);
    begin_pass(index, open);
    return true;
  } else {
    done_(index, measures_of(std::move(open.large.measures)));
  }
  open_.erase(index);
  return false;
}

}  // namespace opbench
