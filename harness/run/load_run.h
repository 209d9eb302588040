#pragma once

#include <memory>

#include "dump/dump_source.h"
#include "harness/plan/options.h"
#include "harness/plan/recorded_call.h"
#include "harness/run/item.h"
#include "harness/run/load_plan.h"
#include "harness/run/run_result.h"
#include "harness/run/runner.h"

namespace opbench {

/// The inputs of a recorded call, read whenever they are wanted. Errors of `fill`: those of
/// DumpSource::read.
class RecordedInputs : public InputSource {
 public:
  RecordedInputs(DumpSource& file, std::shared_ptr<const RecordedCall> call)
      : file_(file), call_(std::move(call)) {}
  void fill(std::size_t input, const TensorDesc& desc, void* to) const override;

 private:
  DumpSource& file_;
  std::shared_ptr<const RecordedCall> call_;
};

/// Runs the calls of a dump on their recorded inputs, as `run_plan` runs cases: each is verified,
/// and where a dump is wanted written under its own name and number. Of calls with the same shapes,
/// dtypes and attributes the first is timed, and has the rows; of the others only those have one
/// that did not pass. Stops once the dump cannot be written any more.
RunResult run_loaded(DumpSource& file, const LoadPlan& plan, const RunOptions& options,
                     const RunHooks& hooks);

}  // namespace opbench
