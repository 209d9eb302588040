#include "harness/run/load_run.h"

#include <memory>
#include <vector>

#include "harness/run/runner.h"
#include "judge/stored_values.h"
#include "workers/interrupt.h"

namespace opbench {

void RecordedInputs::fill(std::size_t input, const TensorDesc& desc, void* to) const {
  read_recorded(file_, *call_->inputs[input], desc, to);
}

RunResult run_loaded(DumpSource& file, const LoadPlan& plan, const RunOptions& options,
                     const RunHooks& hooks) {
  std::vector<WorkItem> work;
  for (const LoadedCase& loaded : plan.cases) {
    for (const PlannedCase& planned : loaded.plans) {
      work.push_back({[&file, &loaded, &planned] {
                        return make_item(planned,
                                         std::make_shared<RecordedInputs>(file, loaded.call),
                                         loaded.record);
                      },
                      planned.graph.memory_bytes(), !loaded.is_first});
    }
  }
  return run_all(work, options, hooks, [&] { return interrupted() || hooks.dump.has_failed(); });
}

}  // namespace opbench
