#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace opbench {

/// One task of a step: a node of its planned graph, as a row of a profiler's op_summary.
struct TaskTime {
  std::string name;     ///< of the node: "stage2.1.branch2.dw", "stage2.1.concat.trans_data0"
  std::string type;     ///< as the device names it: "TransData", "Conv2D"
  std::string kernel;   ///< the variant that computed it: "trans_data"
  std::string cause;    ///< of an inserted task: "concat: C=58 is not a multiple of 16"; else empty
  double start_us = 0;  ///< since the step's first task began
  double duration_us = 0;  ///< median over the profiled runs
  std::vector<TensorDesc> inputs, outputs;
  /// Of every input the task that made it, -1: it comes from outside; empty: not known.
  std::vector<int> sources = {};

  bool is_inserted() const { return !cause.empty(); }
};

/// All tasks of one type, as a row of op_statistic.
struct TypeTime {
  std::string type;
  int count = 0;
  double total_us = 0, min_us = 0, avg_us = 0, max_us = 0;
  double share = 0;  ///< of the time of all tasks, 0 to 1
};

/// What a step of a context has beside what every record has.
struct StepDetails {
  std::string context;
  std::string summary;               ///< what the step changes
  std::string after;                 ///< the step it builds on; empty: none
  int index = 0;                     ///< place among the steps, from 0
  int nodes = 0;                     ///< tasks of the planned graph
  int trans_data = 0;                ///< TransData tasks
  double trans_data_bytes = 0;       ///< read and written by them
  int casts = 0;                     ///< Cast tasks
  int copies = 0;                    ///< of non-contiguous tensors
  std::size_t peak_bytes = 0;        ///< of the planned buffers, inputs and parameters included
  std::size_t unshared_bytes = 0;    ///< what they would take if none were reused
  double us_per_sample = 0;          ///< median_us / samples
  double speedup_over_previous = 0;  ///< per sample, over `after`; 0: none
  double speedup_over_first = 0;     ///< per sample, over the first step
  double planning_ms = 0;
  bool has_overflow = false;  ///< a gradient was not finite: the update was skipped
  double loss_scale = 0;      ///< after the run; 0: none
  int skipped_updates = 0;
  /// Relative error of the gradients, median over them, against the same step in fp32 with the
  /// framework's own kernels; none: not compared.
  std::optional<double> gradient_error;
  std::vector<TypeTime> types;  ///< TransData, Cast and contiguous first, then by total time
  std::vector<TaskTime> tasks;  ///< in execution order
};

}  // namespace opbench
