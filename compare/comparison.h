#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/matching.h"
#include "compare/number_shift.h"
#include "judge/causes.h"
#include "judge/comparable.h"
#include "judge/judge.h"
#include "judge/pair_stats.h"
#include "judge/standard.h"

namespace opbench {

struct ErrorMap;
struct JudgedRecord;

/// A pair of tensors, or a tensor without a partner, with all results about it.
struct TensorResult {
  TensorMatch match;
  SharedStandard standard;
  /// `not_compared` without a reason: still to be measured.
  Judgement judgement{Verdict::not_compared, {}};
  std::vector<std::string> warnings;
  std::vector<Cause> causes;  ///< what it looks like, if it fails; see look_for_symptoms, explain
  std::shared_ptr<const ErrorMap> error_map;  ///< where it is off, if it fails; null: not looked at
  bool is_measured = false;
  PairStats stats;                                ///< only if it is measured
  std::shared_ptr<const CrossCheck> cross_check;  ///< against a golden file; null without one

  const DumpEntry& entry() const { return match.actual ? *match.actual : *match.expected; }
  /// |actual - expected| / |expected| as Euclidean norms. Infinite if a NaN or an Inf is on one
  /// side only, or if all expected values are zero and some actual values are not.
  double relative_error() const;
};

/// The origin of an operator's error; see `analyse` and `explain`.
enum class Origin { none, introduced, inherited, rounding, repaired, unknown };

/// "", "introduced", "inherited", "rounding", "repaired", "unknown".
std::string_view name(Origin origin);

/// A call of an operator in both dumps, or in one of them.
struct OperatorResult {
  const DumpRecord* actual = nullptr;
  const DumpRecord* expected = nullptr;
  std::string note;        ///< of the match
  bool is_random = false;  ///< it draws random numbers, unless a recorded mask says which
  std::vector<TensorResult> tensors;

  // `analyse` sets these.
  Verdict verdict = Verdict::not_compared;  ///< the worst of its tensors'
  Origin origin = Origin::none;
  std::string explanation;            ///< of the origin, in words
  std::optional<double> input_error;  ///< largest relative error of its inputs, if any was measured
  std::optional<double> output_error;  ///< and of its outputs
  /// output_error over input_error; infinite if the inputs have no error. Empty if either is
  /// missing or the outputs have no error.
  std::optional<double> amplification;
  /// The call in each dump, judged with its own inputs, from `explain`; null: not recomputed.
  std::shared_ptr<const JudgedRecord> actual_judged, expected_judged;

  /// The operator's name in the actual dump, else in the expected dump; empty for strays.
  std::string op() const;
  /// The call's number in the same dump: "7", "step1".
  std::string seq() const;
  /// A note of the record in the same dump, such as opbench_module; empty if it is missing.
  std::string recorded_note(std::string_view name) const;
};

struct ComparedFile {
  std::string path;
  std::int64_t bytes = 0;
  std::string device;
  std::size_t operators = 0, tensors = 0;
  std::vector<std::string> problems;  ///< what could not be opened, one line each
  std::int64_t damaged = 0;           ///< of them, for damage: groups and tensors may be missing
};

/// The contents of a report. Points into the records of both dumps.
struct Comparison {
  std::string command, version, revision, date;
  ComparedFile actual, expected;
  std::optional<ComparedFile> golden;
  StandardChoice standard;
  /// Further options in the order and spelling of the command line.
  std::vector<std::pair<std::string, std::string>> options;
  bool is_load_mode = false;  ///< the actual dump was made from the expected one's inputs
  bool is_partial = false;    ///< stopped before its end
  bool is_explained = false;  ///< what fails was recomputed
  std::optional<NumberShift>
      number_shift;  ///< in load mode: by how much its call numbers seem to differ
  std::vector<OperatorResult> operators;  ///< in order of execution
};

}  // namespace opbench
