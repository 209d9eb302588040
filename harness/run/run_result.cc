#include "harness/run/run_result.h"

#include <fmt/format.h>

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

std::string RunResult::reason_text() const {
  const ExitCode code = exit_code();
  if (was_interrupted || (code != kCouldNotFinish && code != kNothingToJudge)) return {};
  if (records.empty()) return "nothing was run";
  const Status status = code == kCouldNotFinish ? Status::errored : Status::skipped;
  const auto is_one = [&](const Record& record) { return record.status == status; };
  const Record& first = *std::find_if(records.begin(), records.end(), is_one);
  const auto count = std::count_if(records.begin(), records.end(), is_one);
  return fmt::format("{} of {} results {} {}, first variant '{}' of {}: {}", count, records.size(),
                     count == 1 ? "is" : "are", name(status), first.variant, first.case_id,
                     first.reason);
}

}  // namespace opbench
