#include "harness/record/run_result.h"

#include <algorithm>

namespace opbench {

ExitCode RunResult::exit_code() const {
  const auto any = [&](Status status) {
    return std::any_of(records.begin(), records.end(),
                       [&](const Record& record) { return record.status == status; });
  };
  if (was_interrupted || any(Status::errored)) return kCouldNotFinish;
  if (any(Status::failed)) return kVerdictFailed;
  const bool is_all_skipped = std::all_of(records.begin(), records.end(), [](const Record& record) {
    return record.status == Status::skipped;
  });
  return is_all_skipped ? kNothingToJudge : kAllWell;
}

}  // namespace opbench
