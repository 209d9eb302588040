#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare/build_comparison.h"
#include "compare/explain.h"
#include "compare/match_dumps.h"
#include "compare/msaccucmp/kept_rows.h"
#include "compare/msaccucmp/msaccucmp_result.h"
#include "compare/pair_table.h"
#include "dump/dump_source.h"

namespace opbench {

/// The default limit for a tensor; tensors of networks are smaller.
inline constexpr std::int64_t kMaxElements = 10'000'000'000;

/// The options of `opbench compare`, already checked.
struct ComparisonOptions {
  std::string actual, expected;  ///< paths
  std::string golden;            ///< path of the golden dump of both; may be empty
  std::string only;  ///< regular expression on operator, module or path of a tensor; empty: all
  NameMap map = default_name_map();
  CallRule rule = CallRule::aligned;
  Standards standards;
  StandardChoice standard;
  std::int64_t memory_bytes = std::int64_t{256} << 20;
  std::int64_t max_elements = kMaxElements;  ///< of a tensor that is read
  Explain explain = Explain::failing;
  OpTable table = OpTable::builtin();  ///< by which operators are recomputed
  bool wants_msaccucmp = false;        ///< its lines too; they cost a second pass over the data
  bool wants_digests = false;          ///< of all tensors that are read, as they are read
  /// Opens the actual dump; empty: opens the dump at its path.
  std::function<DumpSource()> open_actual = {};
};

/// Digests of a tensor on both sides: equal numbers mean equal bits.
struct TensorDigests {
  std::string path;  ///< in the actual dump
  std::uint64_t actual = 0, expected = 0;
};

/// Compares two dumps: opens and matches them, then measures and judges.
class DumpComparison {
 public:
  /// Opens the files and pairs their contents. Errors: throws Error if a file cannot be read, or if
  /// both sides are the same file.
  explicit DumpComparison(ComparisonOptions options);

  /// Bytes that `measure` reads.
  std::int64_t bytes() const { return pairs_.bytes(options_.wants_msaccucmp); }
  /// Reads and judges. If `stop` ends it early, pairs that were not reached are `not compared` and
  /// the comparison is partial.
  void measure(const MeasureHooks& hooks) { measure(Ranks::alone(), hooks); }
  /// Like `measure` above, by all ranks together, each with the same comparison. Only rank 0
  /// judges. The result is the same bit for bit for any number of ranks. Errors: those of dispatch.
  void measure(Ranks& ranks, const MeasureHooks& hooks);
  /// Recomputes operators as the options request, and describes failures. Must be called after
  /// `measure`, by one rank. See `explain` for progress and stop.
  void explain(const std::function<void(std::size_t done, std::size_t all)>& progress,
               const std::function<bool()>& stop);

  /// The comparison for reports. The caller sets `command`, `options` and similar members.
  Comparison& comparison() { return comparison_; }
  /// Lines of msaccucmp's result, by its own matching rules. Each line is made on demand.
  MsaccucmpLines msaccucmp_lines(std::vector<Metric> metrics) const;

  /// Digests of the measured tensors, in order of execution. For one rank only.
  std::vector<TensorDigests> digests() const;

  DumpSource& actual() { return actual_; }
  DumpSource& expected() { return expected_; }

 private:
  std::vector<OperatorMatch> match(DumpSource& a, DumpSource& b) const;
  void list_all();
  void plan();
  void plan_golden();
  void plan_msaccucmp();
  void take(std::size_t pair, PairMeasures&& found);
  const PairMeasures* kept(const TensorMatch& match) const;
  void judge_by_golden(TensorResult& result, const GoldenMatch& golden) const;

  ComparisonOptions options_;
  std::function<bool(std::string_view)> only_;
  DumpSource actual_, expected_;
  std::optional<DumpSource> golden_;
  SideNames sides_;
  PairTable pairs_;
  // Indexed by the numbers of pairs.
  std::vector<TensorResult*> results_;       ///< that a pair decides; fewer than there are pairs
  std::vector<PairMeasures> kept_;           ///< only where a golden file needs them
  KeptMeasures for_columns_;                 ///< only for msaccucmp's result
  std::vector<GoldenMatch> golden_matches_;  ///< for every tensor, in order; empty without a file
  KeptRows rows_;
  Comparison comparison_;
};

}  // namespace opbench
