#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>

#include "judge/large_pair.h"
#include "judge/pair_parts.h"
#include "tensor/buffer.h"
#include "tensor/error.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

/// Some chunks of a large pair, in one of its passes.
struct LargePart {
  explicit LargePart(Unpacker& packed)
      : index(packed.get<std::uint64_t>()),
        pass(packed.get<Pass>()),
        first(packed.get<std::int64_t>()),
        count(packed.get<std::int64_t>()),
        scale(packed.get<double>()),
        scales(packed.get<KlScales>()) {}

  std::uint64_t index;
  Pass pass;
  std::int64_t first, count;
  double scale;  ///< of what is expected, once that is known
  KlScales scales;
};

/// What one thread measures a chunk with.
struct Workplace {
  Buffer actual, expected;
  BlockScratch scratch;
};

/// As many as threads that work at once, each used by one at a time.
class Workplaces {
 public:
  std::unique_ptr<Workplace> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<Workplace>();
    std::unique_ptr<Workplace> place = std::move(free_.back());
    free_.pop_back();
    return place;
  }
  void give_back(std::unique_ptr<Workplace> place) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(place));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Workplace>> free_;
};

void make_room(Buffer& buffer, const PairSide& side) {
  const std::size_t bytes = static_cast<std::size_t>(kMeasureChunk) * size_of(side.stored);
  if (buffer.size() < bytes) buffer = Buffer(bytes);
}

PassMeasures measure_chunk_of(const TensorPair& pair, const PairRules& rules, const LargePart& part,
                              ElementRange range, Workplace& place) {
  make_room(place.expected, pair.expected);
  if (part.pass != Pass::scale) {
    make_room(place.actual, pair.actual);
    pair.actual.read(range, place.actual.data());
  }
  pair.expected.read(range, place.expected.data());
  return measure_pass(
      part.pass, {&rules, range.first, range.count, place.actual.data(), place.expected.data()},
      part.scales, place.scratch);
}

std::string measure_large(const LargePart& part, const PairParts::FindPair& find) {
  const TensorPair pair = find(static_cast<std::size_t>(part.index));
  PairRules rules = rules_of(pair);
  if (rules.tolerance.follows_scale && part.pass != Pass::scale) set_scale(rules, part.scale);
  const std::int64_t chunks = (part.count - 1) / kMeasureChunk + 1;
  std::vector<PassMeasures> found(static_cast<std::size_t>(chunks));
  std::vector<std::string> errors(found.size());
  std::atomic<std::int64_t> first_failed = chunks;
  Workplaces places;
  parallel_blocks(chunks, [&](std::int64_t chunk) {
    // Those before it are read all the same, so that the first error is told, as it is undivided.
    if (chunk > first_failed) return;
    auto place = places.take();
    const std::int64_t begin = chunk * kMeasureChunk;
    const ElementRange range{part.first + begin, std::min(kMeasureChunk, part.count - begin)};
    const auto i = static_cast<std::size_t>(chunk);
    try {
      found[i] = measure_chunk_of(pair, rules, part, range, *place);
    } catch (const Error& error) {
      errors[i] = error.what();
      for (std::int64_t at = first_failed; chunk < at;) {
        if (first_failed.compare_exchange_weak(at, chunk)) break;
      }
    }
    places.give_back(std::move(place));
  });
  if (first_failed < chunks) throw Error(errors[static_cast<std::size_t>(first_failed)]);
  Packer packer;
  for (const PassMeasures& chunk : found) pack(packer, part.pass, chunk);
  return packer.take();
}

std::string large_result(const LargePart& part, const PairParts::FindPair& find) {
  std::string error, measures;
  try {
    measures = measure_large(part, find);
  } catch (const std::bad_alloc&) {
    error = "not enough memory";
  } catch (const Error& failure) {
    error = failure.what();
  }
  Packer packer;
  packer.add(false);
  packer.add(part.index);
  packer.add(part.first);
  packer.add(part.count);
  packer.add(error);
  packer.add(measures);
  return packer.take();
}

std::string small_result(Unpacker& packed, const PairParts::FindPair& find,
                         const MeasureOptions& options) {
  std::vector<std::size_t> pairs;
  while (!packed.is_empty()) pairs.push_back(static_cast<std::size_t>(packed.get<std::uint64_t>()));
  Packer packer;
  packer.add(true);
  measure_pairs(
      pairs.size(), [&](std::size_t i) { return find(pairs[i]); }, options, {},
      [&](std::size_t i, PairMeasures&& found) {
        packer.add(static_cast<std::uint64_t>(pairs[i]));
        pack(packer, found);
      });
  return packer.take();
}

}  // namespace

std::string measure_part(std::string_view part, const PairParts::FindPair& find,
                         const MeasureOptions& options) {
  Unpacker packed(part);
  if (packed.get<bool>()) return small_result(packed, find, options);
  // A workplace holds a chunk of both sides, as a token does.
  const std::int64_t most = options.memory_bytes / (2 * 8 * kMeasureChunk);
  std::string result;
  const LargePart large(packed);
  with_threads(static_cast<int>(std::clamp<std::int64_t>(most, 1, thread_count())),
               [&] { result = large_result(large, find); });
  return result;
}

}  // namespace opbench
