#pragma once

#include <functional>
#include <string>
#include <vector>

#include "dump/dump_types.h"
#include "ops/op_table.h"

namespace opbench {

/// The call of one of our operators that a record of a dump stands for.
struct RecordedCall {
  Problem problem;                        ///< its output dtypes are the recorded ones
  std::vector<const DumpEntry*> inputs;   ///< in the problem's order
  std::vector<const DumpEntry*> outputs;  ///< likewise; null: not recorded
};

/// The calls of our operators that a record stands for.
struct RecordedCalls {
  std::vector<RecordedCall> calls;
  Drawn drawn = Drawn::not_at_all;
  bool is_known = false;  ///< the table has its operator
  /// Reason for an empty list; else why a row of --map, which comes first, does not fit. One line.
  std::string obstacle;
};

/// Reads the numbers of a recorded scalar or list, at most kMostNumbers.
/// Errors: throws Error if they cannot be read.
using ReadNumbers = std::function<std::vector<double>(const DumpEntry& entry)>;
inline constexpr std::int64_t kMostNumbers = 64;  ///< of one scalar or list

/// States if the outputs of a record were written; `flattened`: perhaps as one axis.
enum class Results { recorded, flattened, unknown };

/// Allowed dtypes of a record: those of variants, or those of the reference, which takes fp64 too
/// for operators that take fp32.
enum class TakenDTypes { of_variants, of_reference };

/// Uses the note opbench_call of opbench's own dumps if it agrees with the recorded data, else the
/// table. `record` must outlive the result. If results are recorded, at least one must match.
/// Errors: those of `read`.
RecordedCalls calls_of(const DumpRecord& record, const OpTable& table, const ReadNumbers& read,
                       Results results = Results::recorded,
                       TakenDTypes dtypes = TakenDTypes::of_variants);

}  // namespace opbench
