#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "compare/measure/large_pair.h"

namespace opbench {

/// Pairs cut into parts that any process can measure, and put together again: what measure_pairs
/// finds, bit for bit. A part is as many small pairs as make a letter worth it, or some chunks of a
/// large pair in one of its passes.
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

 private:
  struct Open {
    LargePair large;
    std::map<std::int64_t, std::string> waiting;  ///< by first element: what came out of turn
    std::int64_t answered = 0;                    ///< elements of this pass
    std::string error;                            ///< of the earliest part that has one
    std::int64_t error_at = 0;
  };

  void begin_pass(std::size_t index, Open& open);
  void take_small(std::string_view found);
  void take_large(std::string_view found);
  void merge_waiting(Open& open);

  std::size_t count_;
  const FindPair& pair_;
  const MeasureOptions& options_;
  PartSink parts_;
  PairSink done_;
  std::map<std::size_t, Open> open_;  ///< large pairs, by their index
};

/// What a pass finds in the holes of a pair, kept from one part to the next. Thread-safe.
class HoleMeasures {
 public:
  PassMeasures of(std::uint64_t pair, Pass pass, const PairRules& rules, const KlScales& scales,
                  BlockScratch& scratch);

 private:
  std::mutex mutex_;
  bool is_known_ = false;
  std::uint64_t pair_ = 0;  ///< and its pass: the last that was asked for
  Pass pass_ = Pass::metrics;
  PassMeasures found_;
};

/// Measures a part with the threads at hand. What cannot be read is said in the result.
std::string measure_part(std::string_view part, const PairParts::FindPair& pair,
                         const MeasureOptions& options, HoleMeasures& holes);

}  // namespace opbench
