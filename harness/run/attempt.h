#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "harness/run/open_item.h"
#include "harness/run/record.h"
#include "harness/run/step_measurement.h"

namespace opbench {

/// A runnable on its way through the phases; closed as soon as its status is final.
struct Attempt {
  std::size_t index = 0;
  Record record;
  Values values;  ///< of the phase that it is in, or that closed it
  std::vector<Sample> samples;
  StepMeasurement measured;
  std::vector<std::vector<double>> rounds;  ///< microseconds of each node, by round
  bool is_open = true;
  bool is_in_memory =
      false;  ///< its values can be loaded, whether or not its kernels were prepared

  void close(Status status, std::string reason) {
    record.status = status;
    record.reason = std::move(reason);
    samples.clear();
    rounds.clear();
    is_open = false;
  }
};

}  // namespace opbench
