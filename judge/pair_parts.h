#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "judge/large_pair.h"

namespace opbench {

/// Work for one thread or one rank: small pairs, or chunks of a large pair in one of its passes.
struct PairPart {
  std::vector<std::size_t> pairs = {};  ///< a large one alone
  ElementRange range = {};              ///< of a large pair; empty for small ones
  std::int64_t bytes = 0;               ///< that are read for it
  Pass pass = Pass::metrics;
  double scale = 1;  ///< of what is expected, once that is known
  KlScales scales = {};

  bool is_large() const { return range.count > 0; }
};

template <class V>
void each_field(V& v, FieldsOf<PairPart> auto& part) {
  v.fields(part.pairs, part.range, part.bytes, part.pass, part.scale, part.scales);
}

/// Results of a part.
struct PartMeasures {
  std::vector<PairMeasures> pairs;  ///< of small pairs, in the part's order
  std::string chunks;               ///< of a large pair: PassMeasures of each chunk, packed
  std::string error;                ///< the reason why a chunk could not be measured
};

template <class V>
void each_field(V& v, FieldsOf<PartMeasures> auto& found) {
  v.fields(found.pairs, found.chunks, found.error);
}

/// The size of a part: elements of a large pair, or bytes of small ones.
struct PartSize {
  std::int64_t elements, bytes;
};

/// Some ten microseconds of work for a thread, less than the cache holds.
inline constexpr PartSize kThreadPart{kMeasureChunk, std::int64_t{512} << 10};
/// Some ten milliseconds of reading for a rank, so that messages cost little.
inline constexpr PartSize kRankPart{16 * kMeasureChunk, std::int64_t{16} << 20};

/// Cuts pairs into parts and joins the results, in the order of the elements: the same bits for any
/// size of the parts and any order of the results. Chunks that are holes are in no part.
class PairParts {
 public:
  using FindPair = std::function<TensorPair(std::size_t)>;

  /// `pair` outlives the parts.
  PairParts(std::size_t count, const FindPair& pair, const MeasureOptions& options, PartSize size,
            PairSink done);

  /// The next part; nothing before further results are taken if all parts so far are handed out.
  /// Parts of begun pairs come first, because their elements were read not long ago. With `begins`
  /// false there are only those.
  std::optional<PairPart> next(bool begins = true);
  /// Takes the results of a part. Hands over the measures of pairs that are complete.
  void take(const PairPart& part, PartMeasures&& found);
  /// Bytes of holes so far; only `next` changes them.
  std::int64_t hole_bytes() const { return hole_bytes_; }

 private:
  /// Consecutive chunks that wait for the chunks before them.
  struct Run {
    std::int64_t count = 0;   ///< elements
    PartMeasures found = {};  ///< empty for a hole
  };
  struct Open {
    LargePair large;
    std::map<std::int64_t, Run> waiting;  ///< by first element
    std::string error;                    ///< of the first chunk that has one
  };

  std::optional<PairPart> next_pairs();
  std::optional<PairPart> next_chunks();
  void put(std::size_t index, std::int64_t first, Run run);
  void join(Open& open, Run& run);

  std::size_t count_;
  const FindPair& pair_;
  const MeasureOptions options_;
  const PartSize size_;
  PairSink done_;
  std::size_t next_ = 0;              ///< the first pair that is not begun
  std::map<std::size_t, Open> open_;  ///< large pairs, by their index
  std::vector<std::size_t> unread_;   ///< large pairs with chunks of this pass that are in no part
  std::int64_t hole_bytes_ = 0;
  std::unique_ptr<BlockScratch> scratch_ = std::make_unique<BlockScratch>();
};

/// Measures a packed part with the threads at hand. Returns the part and its PartMeasures, packed.
std::string measure_part(std::string_view part, const PairParts::FindPair& pair,
                         const MeasureOptions& options);

}  // namespace opbench
