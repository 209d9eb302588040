#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compare/matching.h"
#include "dump/dump_source.h"
#include "judge/pair_parts.h"
#include "workers/dispatch.h"

namespace opbench {

/// The pairs of tensors that a comparison measures. Each pair is in it once, even if several
/// reports need it, in the order of requests.
class PairTable {
 public:
  /// Asks for a pair with sides in `actual` and `expected`. The first tolerance counts, and
  /// outlives the table. Returns the pair's number.
  std::size_t add(DumpSource& actual, DumpSource& expected, const TensorMatch& match,
                  const Tolerance& tolerance);

  std::size_t size() const { return pairs_.size(); }
  /// From now on `measure` also makes digests of the data that it reads in this process.
  void want_digests() { wants_digests_ = true; }
  /// Digests of a pair's stored bytes, actual and expected; empty if it was not read to its end.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> digests(std::size_t pair) const;

  /// Bytes that `measure` reads: large tensors again where KL divergence is requested, and one side
  /// of them for its scale.
  std::int64_t bytes(bool wants_kl) const { return bytes_ + (wants_kl ? reread_bytes_ : 0); }

  /// Measures all pairs; see measure_pairs.
  void measure(const MeasureOptions& options, const MeasureHooks& hooks, const PairSink& done);
  /// Measures all of them by all ranks together. Each rank has made the same table. `done` is
  /// called on rank 0. Errors: those of dispatch.
  void measure(Ranks& ranks, const MeasureOptions& options, const MeasureHooks& hooks,
               const PairSink& done);

  /// The pair's number after all pairs were measured; empty if it is not in the table.
  std::optional<std::size_t> find(const TensorMatch& match) const;

 private:
  /// Elements of a tensor that are digested. They are read in order, those of large ones again.
  struct Digest {
    std::uint64_t state = 0;
    std::int64_t next = 0;  ///< element
  };
  struct PairDigest {
    Digest actual, expected;
  };

  using Sides = std::pair<const DumpEntry*, const DumpEntry*>;
  struct Pair {
    DumpSource* actual_file;
    DumpSource* expected_file;
    TensorMatch match;
    const Tolerance* tolerance;
  };

  void sort();
  std::string digest() const;
  void dispatch_parts(Ranks& ranks, const PairParts::FindPair& find, const UnitWork& work,
                      const MeasureOptions& options, const MeasureHooks& hooks,
                      const PairSink& done) const;
  static PairSide digested(PairSide side, Digest& digest);
  TensorPair tensor_pair(std::size_t index) const;
  Sides sides(std::size_t index) const;

  std::vector<Pair> pairs_;
  std::map<Sides, std::size_t> index_;  // until they are measured
  std::vector<std::uint32_t> sorted_;   // then: numbers by sides, in less memory
  std::int64_t bytes_ = 0, reread_bytes_ = 0;
  bool wants_digests_ = false;
  mutable std::vector<PairDigest> digests_;  // by number, once they are measured
};

/// A tensor of `file` for the measuring engine; both must outlive the result.
PairSide pair_side(DumpSource& file, const DumpEntry& entry);

}  // namespace opbench
