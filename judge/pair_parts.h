#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "judge/large_pair.h"

namespace opbench {

/// Pairs cut into parts that any process can measure, and put together again: what measure_pairs
/// finds, bit for bit. A part is as many small pairs as make a letter worth it, or some chunks of a
/// large pair in one of its passes. Chunks that are holes are in no part.
class PairParts {
 public:
  using FindPair = std::function<TensorPair(std::size_t)>;
  /// Takes a part, and the bytes that are read for it.
  using PartSink = std::function<void(std::string part, std::int64_t bytes)>;

  /// `pair` outlives the parts.
  PairParts(std::size_t count, const FindPair& pair, const MeasureOptions& options, PartSink parts,
            PairSink done);

  /// The parts that can be measured from the start.
  void begin();
  /// Takes what `measure_part` found in a part. Hands out the parts of a pair's next pass, or the
  /// pair's measures, once all of a pass are there.
  void take(std::string_view found);
  /// Of holes so far, which are read for no part.
  std::int64_t hole_bytes() const { return hole_bytes_; }

 private:
  /// Chunks that follow one another and wait for those before them.
  struct Run {
    std::int64_t count = 0;  ///< elements
    bool is_hole = false;
    std::string measures;  ///< packed, of each chunk; none of a hole
  };
  struct Open {
    LargePair large;
    std::map<std::int64_t, Run> waiting;  ///< by first element
    std::int64_t answered = 0;            ///< elements of this pass
    std::string error;                    ///< of the earliest part that has one
    std::int64_t error_at = 0;
  };

  void begin_pass(std::size_t index, Open& open);
  void hand_out(std::size_t index, const Open& open, ElementRange range);
  void take_small(std::string_view found);
  void take_large(std::string_view found);
  void advance(std::size_t index, Open& open);
  void merge_waiting(Open& open);
  bool end_pass(std::size_t index, Open& open);

  std::size_t count_;
  const FindPair& pair_;
  const MeasureOptions options_;
  PartSink parts_;
  PairSink done_;
  std::map<std::size_t, Open> open_;  ///< large pairs, by their index
  std::int64_t hole_bytes_ = 0;
  std::unique_ptr<BlockScratch> scratch_ = std::make_unique<BlockScratch>();
};

/// Measures a part with the threads at hand. What cannot be read is said in the result.
std::string measure_part(std::string_view part, const PairParts::FindPair& pair,
                         const MeasureOptions& options);

}  // namespace opbench
