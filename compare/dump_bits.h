#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compare/judge_dump.h"
#include "dump/dump_source.h"
#include "harness/run/invariance.h"

namespace opbench {

/// An output in two dumps, bit for bit.
struct OutputBits {
  std::string name;
  std::int64_t elements = 0, unequal = 0;
  Difference first;      ///< the first unequal element; `how` has the rows that were compared
  double first_ulp = 0;  ///< its distance
  std::string reason;    ///< why it is not compared; empty if it is

  bool differs() const { return unequal > 0; }
};

/// A call in two dumps.
struct CallBits {
  /// `near`: the bits differ, and each dump's output is right for its own inputs. `differs`: the
  /// bits differ, and an output is wrong or could not be recomputed.
  InvarianceCell::State state = InvarianceCell::not_applicable;
  std::string op, seq, module;  ///< of the first dump, or the second if only that has the call
  std::vector<OutputBits> outputs;
  /// None if an input could not be compared.
  std::optional<bool> has_equal_inputs = {};
  std::string explanation;  ///< of a difference, or why nothing is compared
};

struct BitComparison {
  std::string first, second;    ///< file names
  std::vector<CallBits> calls;  ///< in order of execution
  bool is_partial = false;      ///< stopped before its end

  std::int64_t count(InvarianceCell::State state) const;
  /// The first call whose outputs differ; null: no such call.
  const CallBits* first_difference() const;
};

struct BitOptions {
  /// The first row of the larger tensor that is compared, if two tensors differ in their first
  /// extent only. As many rows follow as the smaller one has.
  std::int64_t row = 0;
  const OpTable* table = &OpTable::builtin();
  JudgeOptions judging;
  std::function<void(std::size_t done, std::size_t all)> progress = {};
  std::function<bool()> stop = {};
};

/// Compares the outputs of two dumps of one network bit for bit. Calls pair as in `opbench
/// compare`. Each call whose outputs differ is judged in both dumps with its own inputs: if both
/// are right, another order of its sums, or its inputs, explain the difference.
BitComparison compare_bits(DumpSource& first, DumpSource& second, const BitOptions& options);

}  // namespace opbench
