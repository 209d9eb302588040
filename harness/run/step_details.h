#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/plan/published_time.h"
#include "tensor/tensor.h"

namespace opbench {

/// One task of a step: a node of its planned graph, like a row of a profiler's op_summary.
struct TaskTime {
  std::string name;     ///< of the node: "stage2.1.branch2.dw", "stage2.1.concat.trans_data0"
  std::string type;     ///< the device's name: "TransData", "Conv2D"
  std::string kernel;   ///< the variant that computed it: "trans_data"
  std::string cause;    ///< of an inserted task: "concat: C=58 is not a multiple of 16"; else empty
  double start_us = 0;  ///< since the start of the step's first task
  double duration_us = 0;  ///< median over the profiled runs
  std::vector<TensorDesc> inputs, outputs;
  /// Index of the task that wrote each input; -1: given from outside. Empty: unknown.
  std::vector<int> sources = {};

  bool is_inserted() const { return !cause.empty(); }
};

/// All tasks of one type, like a row of op_statistic.
struct TypeTime {
  std::string type;
  int count = 0;
  double total_us = 0, min_us = 0, avg_us = 0, max_us = 0;
  double share = 0;  ///< of the time of all tasks, 0 to 1
};

/// Data of a context's step, in addition to those of every record.
struct StepDetails {
  std::string context;
  std::string summary;             ///< the changes of the step
  std::string after;               ///< the step that it builds on; may be empty
  int index = 0;                   ///< index in the list of steps, from 0
  int nodes = 0;                   ///< tasks of the planned graph
  int trans_data = 0;              ///< TransData tasks
  double trans_data_bytes = 0;     ///< read and written by them
  int casts = 0;                   ///< Cast tasks
  int copies = 0;                  ///< of non-contiguous tensors
  std::size_t peak_bytes = 0;      ///< of the planned buffers, including inputs and parameters
  std::size_t unshared_bytes = 0;  ///< size without reuse of memory
  double us_per_sample = 0;        ///< median_us / samples
  std::int64_t samples = 1;        ///< per call
  PublishedTime published;
  double speedup_over_previous = 0;  ///< per sample, over `after`; 0: no such step
  double speedup_over_first = 0;     ///< per sample, over the first step
  double planning_ms = 0;
  bool has_overflow = false;  ///< a gradient was not finite: the update was skipped
  double loss_scale = 0;      ///< after the run; 0: not scaled
  int skipped_updates = 0;
  /// Relative error of the gradients, median over them, against the same step in fp32 with the
  /// framework's own kernels; none: not compared.
  std::optional<double> gradient_error;
  std::vector<TypeTime> types;  ///< TransData, Cast and contiguous first, then by total time
  std::vector<TaskTime> tasks;  ///< in execution order
};

}  // namespace opbench
