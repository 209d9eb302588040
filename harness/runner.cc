#include "harness/runner.h"

#include <algorithm>
#include <chrono>

#include "harness/case_runner.h"
#include "harness/interrupt.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

void run_with_threads(const PlannedCase& planned, const RunOptions& options, int threads,
                      const RunHooks& hooks, RunResult& result) {
  std::vector<Record> records = run_case(planned, options, threads, hooks, result.times);
  if (records.empty()) return;
  ++result.cases_run;
  const bool was_allocated = std::any_of(records.begin(), records.end(), [](const Record& record) {
    return record.is_timed() || record.is_compared;
  });
  if (was_allocated) {
    result.largest_case_bytes = std::max(result.largest_case_bytes, planned.graph.memory_bytes());
  }
  if (hooks.case_done) hooks.case_done(records);
  std::move(records.begin(), records.end(), std::back_inserter(result.records));
}

}  // namespace

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

RunResult run_plan(const std::vector<PlannedCase>& plan, const RunOptions& options,
                   const RunHooks& hooks) {
  const auto start = std::chrono::steady_clock::now();
  RunResult result;
  const std::vector<int> threads =
      options.threads.empty() ? std::vector<int>{available_cores()} : options.threads;
  std::size_t done = 0;
  for (const PlannedCase& planned : plan) {
    for (const int count : threads) {
      if (interrupted()) break;
      if (hooks.step) hooks.step(done++, plan.size() * threads.size());
      run_with_threads(planned, options, count, hooks, result);
    }
  }
  result.was_interrupted = interrupted();
  result.times.total =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace opbench
