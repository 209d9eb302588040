#pragma once

#include <functional>
#include <string>
#include <vector>

#include "dump/dump_types.h"
#include "ops/op_table.h"

namespace opbench {

/// What one of our operators computes in a record of a dump.
struct RecordedCall {
  Problem problem;                        ///< what is recorded under its outputs is of their dtypes
  std::vector<const DumpEntry*> inputs;   ///< in the problem's order
  std::vector<const DumpEntry*> outputs;  ///< likewise; null: not recorded
};

/// A record in terms of our operators.
struct RecordedCalls {
  std::vector<RecordedCall> calls;
  Drawn drawn = Drawn::not_at_all;
  bool is_known = false;  ///< the table has its operator
  std::string obstacle;   ///< why there are no calls; one line
};

/// The numbers of a recorded scalar or list, at most kMostNumbers of them. Errors: throws Error if
/// they cannot be read.
using ReadNumbers = std::function<std::vector<double>(const DumpEntry& entry)>;
inline constexpr std::int64_t kMostNumbers = 64;

/// Whether a record tells what its operator returned.
enum class Results { recorded, unknown };

/// Which dtypes a record may have: those that variants take, or those of the reference, which
/// computes in fp64 too what takes fp32.
enum class TakenDTypes { of_variants, of_reference };

/// By the note opbench_call of our own dumps, where it holds for what is recorded, else by the
/// table. `record` must outlive the result. Where results are recorded, one at least must fit.
/// Errors: those of `read`.
RecordedCalls calls_of(const DumpRecord& record, const OpTable& table, const ReadNumbers& read,
                       Results results = Results::recorded,
                       TakenDTypes dtypes = TakenDTypes::of_variants);

}  // namespace opbench
