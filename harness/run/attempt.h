#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/run/clocks.h"
#include "harness/run/open_unit.h"
#include "harness/run/record.h"
#include "harness/run/step_measurement.h"

namespace opbench {

/// State of a variant in the phases of a run. It is closed when its status is final.
struct Attempt {
  std::size_t index = 0;
  Record record;
  Values values;  ///< of the current phase, or of the phase that closed it
  std::vector<Sample> samples;
  WarmUp warm_up;
  std::optional<Counts> counts;  ///< of the calls of all samples
  std::optional<KernelClock> clock;
  double clock_before_mhz = 0, clock_after_mhz = 0;
  std::int64_t retaken = 0;
  StepMeasurement measured;
  std::vector<std::vector<double>> rounds;  ///< microseconds of each node, by round
  bool is_open = true;
  bool is_in_memory = false;  ///< its values can be loaded, even if its kernels were not prepared

  void close(Status status, std::string reason) {
    record.status = status;
    record.reason = std::move(reason);
    samples.clear();
    rounds.clear();
    is_open = false;
  }

  void take_verdict(const Verification& found) {
    keep_worst(record.accuracy, found.stats, found.elements);
    if (!found.formula.empty()) record.formula = found.formula;
    const Judgement& judged = found.judgement;
    if (judged.verdict == Verdict::failed) return close(Status::failed, judged.reason);
    if (!found.known_limit.empty()) {
      // On recorded values a failure is a property of the recording, even if the limit is known.
      const bool is_ours = values.has_corners;
      return close(is_ours ? Status::xfailed : Status::failed, found.known_limit);
    }
    if (record.status == Status::mistrusted) return;
    record.status = judged.verdict == Verdict::mistrusted ? Status::mistrusted : Status::passed;
    if (!judged.reason.empty()) record.reason = judged.reason;
  }
};

}  // namespace opbench
