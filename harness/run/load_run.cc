#include "harness/run/load_run.h"

#include <chrono>
#include <cstdlib>
#include <functional>

#include "harness/run/item_runner.h"
#include "harness/run/recorded_inputs.h"
#include "harness/run/runner.h"
#include "tensor/parallel.h"
#include "workers/interrupt.h"

namespace opbench {
namespace {

bool says_something_new(const Record& record) {
  return record.status == Status::failed || record.status == Status::errored;
}

}  // namespace

RunResult run_loaded(DumpSource& file, const LoadPlan& plan, const RunOptions& options,
                     const RunHooks& hooks) {
  const auto start = std::chrono::steady_clock::now();
  RunResult result;
  getloadavg(&result.load, 1);
  const std::vector<int> threads =
      options.threads.empty() ? std::vector<int>{available_cores()} : options.threads;
  RunOptions repeated = options;
  repeated.times = false;
  const auto run = [&](const LoadedCase& loaded, const PlannedCase& planned, int count) {
    Item item =
        make_item(planned, std::make_shared<RecordedInputs>(file, loaded.call), loaded.record);
    std::vector<Record> records =
        run_item(std::move(item), loaded.is_first ? options : repeated, count, hooks, result.times);
    if (!loaded.is_first) std::erase_if(records, std::not_fn(says_something_new));
    add_records(std::move(records), planned.graph.memory_bytes(), hooks, result);
  };
  std::size_t done = 0;
  for (const LoadedCase& loaded : plan.cases) {
    if (interrupted() || hooks.dump.has_failed()) break;
    if (hooks.progress) hooks.progress(done++, plan.cases.size());
    for (const PlannedCase& planned : loaded.plans) {
      for (const int count : threads) {
        if (!interrupted()) run(loaded, planned, count);
      }
    }
  }
  result.was_interrupted = interrupted();
  result.times.total =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace opbench
