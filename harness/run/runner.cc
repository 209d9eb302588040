#include "harness/run/runner.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <utility>

#include "harness/run/unit_runner.h"
#include "tensor/parallel.h"
#include "workers/interrupt.h"

namespace opbench {
namespace {

bool says_something_new(const Record& record) {
  return record.status == Status::failed || record.status == Status::errored;
}

bool is_over(const WorkUnit& unit, const RunHooks& hooks) {
  return interrupted() || (unit.inputs != nullptr && hooks.dump.has_failed());
}

// Adds and reports the records of a complete case. `bytes` is the size of its tensors.
void add_records(std::vector<Record> records, std::size_t bytes, const RunHooks& hooks,
                 RunResult& result) {
  if (records.empty()) return;
  ++result.cases_run;
  const bool was_allocated = std::any_of(records.begin(), records.end(), [](const Record& record) {
    return record.is_timed() || record.accuracy.has_value();
  });
  if (was_allocated) result.largest_case_bytes = std::max(result.largest_case_bytes, bytes);
  if (hooks.case_done) hooks.case_done(records);
  std::move(records.begin(), records.end(), std::back_inserter(result.records));
}

}  // namespace

RunResult run_units(std::span<const WorkUnit> units, const RunOptions& options,
                    const RunHooks& hooks) {
  const auto start = std::chrono::steady_clock::now();
  RunResult result;
  getloadavg(&result.load, 1);
  const std::vector<int> threads =
      options.threads.empty() ? std::vector<int>{available_cores()} : options.threads;
  RunOptions untimed = options;
  untimed.times = false;
  std::size_t done = 0;
  for (const WorkUnit& unit : units) {
    for (const int count : threads) {
      if (is_over(unit, hooks)) break;
      if (hooks.progress) hooks.progress(done++, units.size() * threads.size());
      std::vector<Record> records =
          run_work_unit(unit, unit.is_repeat ? untimed : options, count, hooks, result.times);
      if (unit.is_repeat) std::erase_if(records, std::not_fn(says_something_new));
      add_records(std::move(records), unit.bytes(), hooks, result);
    }
  }
  result.was_interrupted = interrupted();
  result.times.total =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace opbench
