#include "harness/record/run_result.h"

#include <algorithm>

namespace opbench {

int RunResult::exit_code() const {
  const auto any = [&](Status status) {
    return std::any_of(records.begin(), records.end(),
                       [&](const Record& record) { return record.status == status; });
  };
  if (was_interrupted || any(Status::errored)) return 3;
  if (any(Status::failed)) return 1;
  const bool is_all_skipped = std::all_of(records.begin(), records.end(), [](const Record& record) {
    return record.status == Status::skipped;
  });
  return is_all_skipped ? 4 : 0;
}

}  // namespace opbench
