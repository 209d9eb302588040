#include "harness/run/runner.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <utility>

#include "harness/run/item_runner.h"
#include "tensor/parallel.h"
#include "workers/interrupt.h"

namespace opbench {
namespace {

bool says_something_new(const Record& record) {
  return record.status == Status::failed || record.status == Status::errored;
}

// Adds the records of a case that is complete, and reports them. `bytes`: what its tensors take.
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

RunResult run_all(std::span<const WorkItem> work, const RunOptions& options, const RunHooks& hooks,
                  const std::function<bool()>& is_over) {
  const auto start = std::chrono::steady_clock::now();
  RunResult result;
  getloadavg(&result.load, 1);
  const std::vector<int> threads =
      options.threads.empty() ? std::vector<int>{available_cores()} : options.threads;
  RunOptions untimed = options;
  untimed.times = false;
  std::size_t done = 0;
  for (const WorkItem& one : work) {
    for (const int count : threads) {
      if (is_over()) break;
      if (hooks.progress) hooks.progress(done++, work.size() * threads.size());
      std::vector<Record> records =
          run_item(one.make(), one.is_repeat ? untimed : options, count, hooks, result.times);
      if (one.is_repeat) std::erase_if(records, std::not_fn(says_something_new));
      add_records(std::move(records), one.bytes, hooks, result);
    }
  }
  result.was_interrupted = interrupted();
  result.times.total =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

RunResult run_plan(const std::vector<PlannedCase>& plan,
                   const std::vector<PlannedContext>& contexts, const RunOptions& options,
                   const RunHooks& hooks) {
  std::vector<WorkItem> work;
  const auto add = [&](const auto& planned, std::size_t bytes) {
    work.push_back({[&planned, &options] {
                      Item item = make_item(planned);
                      item.most_verified = options.most_verified;
                      return item;
                    },
                    bytes});
  };
  for (const PlannedCase& planned : plan) add(planned, planned.graph.memory_bytes());
  for (const PlannedContext& planned : contexts) add(planned, planned.largest_step_bytes());
  return run_all(work, options, hooks, interrupted);
}

}  // namespace opbench
