#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiles/task.h"

namespace opbench {

/// One task of the step that is kept.
struct StepTask {
  std::string name, type, stream;
  std::int64_t start_ns = 0, duration_ps = 0;
  bool is_communication = false;
  double start_us = 0;  ///< since the step's first task began
};

/// The tasks of one step, to be drawn along the time: of the second step of the first device, as
/// the first one warms up, or of the first where there is no other. Up to `kMost` tasks are kept.
class StepTasks {
 public:
  static constexpr std::size_t kMost = 3000;

  void add(const DeviceTask& task, bool is_communication = false);

  /// By when they began; empty where starts are not known.
  std::vector<StepTask> tasks() const;
  /// Of the same step, beyond those that are kept.
  std::int64_t left_out() const { return chosen().left_out; }
  const std::string& step() const { return chosen().step; }

 private:
  struct Step {
    std::string step;
    std::vector<StepTask> tasks;
    std::int64_t left_out = 0;
    bool is_begun = false;
  };

  const Step& chosen() const { return second_.is_begun ? second_ : first_; }

  std::string file_, device_;
  Step first_, second_;
};

}  // namespace opbench
