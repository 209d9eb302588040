#include "harness/run/runner.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>

#include "harness/run/item_runner.h"
#include "tensor/parallel.h"
#include "workers/interrupt.h"

namespace opbench {

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

RunResult run_plan(const std::vector<PlannedCase>& plan,
                   const std::vector<PlannedContext>& contexts, const RunOptions& options,
                   const RunHooks& hooks) {
  const auto start = std::chrono::steady_clock::now();
  RunResult result;
  getloadavg(&result.load, 1);
  const std::vector<int> threads =
      options.threads.empty() ? std::vector<int>{available_cores()} : options.threads;
  const std::size_t total = (plan.size() + contexts.size()) * threads.size();
  std::size_t done = 0;
  const auto run = [&](const auto& planned, std::size_t bytes) {
    for (const int count : threads) {
      if (interrupted()) return;
      if (hooks.progress) hooks.progress(done++, total);
      Item item = make_item(planned);
      item.most_verified = options.most_verified;
      add_records(run_item(std::move(item), options, count, hooks, result.times), bytes, hooks,
                  result);
    }
  };
  for (const PlannedCase& planned : plan) run(planned, planned.graph.memory_bytes());
  for (const PlannedContext& planned : contexts) run(planned, planned.largest_step_bytes());
  result.was_interrupted = interrupted();
  result.times.total =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace opbench
