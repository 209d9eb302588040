#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/ingest.h"

namespace opbench {

/// Parts of the step time in picoseconds, over all steps on all devices. Overlapping time of one
/// kind counts once.
struct StepTime {
  std::int64_t count = 0;  ///< steps, or files where the profile has no steps
  bool has_steps = false;
  std::int64_t mean_ps = 0;   ///< duration of one step
  std::int64_t whole_ps = 0;  ///< duration of all steps on all devices
  std::int64_t computing_ps = 0;
  std::int64_t communication_ps = 0;        ///< including the time while something computes
  std::int64_t communication_alone_ps = 0;  ///< only while nothing computes
  std::int64_t copies_alone_ps = 0;         ///< copies, while nothing else runs

  /// "step", or "profile" if there are no steps.
  std::string_view whole_name() const { return has_steps ? "step" : "profile"; }
  std::int64_t idle_ps() const;
  double share(std::int64_t picoseconds) const;
};

/// The steps that a trace or step_trace_time.csv marks. Without marks: a whole trace, or the steps
/// from the start times of tasks. Empty if no source has steps.
std::optional<StepTime> step_time(const IngestResult& result);

/// The part of the steps in which an operator ran.
double step_share(const IngestResult& result, const StepTime& step, const HotOperator& one);

/// "One step takes 136.6 ms: computing 6.5 %, ...". Without a known step it states the device time.
/// Empty if nothing ran on a device.
std::string headline(const IngestResult& result);

/// "Host and device both work for 5.2 % of the step, ...". Empty without operators of the host.
std::string host_line(const IngestResult& result);

/// A pattern with the row of its first task: "Conv2D -> TransData -> MaxPool, 6 times".
struct Evidence {
  std::string text;
  SourceRow at;
};

/// A loss of time for which tuning guides have a remedy.
struct Finding {
  std::string rule;  ///< its name in hot_spot_rules.yaml
  std::string what;  ///< one line
  bool is_warning = false;
  /// The share of the steps that it could save at most, by `estimate`; without a step, the share of
  /// `share`'s time. Savings of several findings do not add up.
  double saves = 0;
  double share = 0;  ///< of the device time; without a step, of the time in `what`; 0: no share
  std::optional<double> step_share;  ///< of the steps, if both times are known
  std::vector<Evidence> evidence;    ///< the longest first, not all of it
  std::string estimate, advice, tries;

  double shown_share() const { return step_share.value_or(share); }
};

/// Core counts of the device, from the user: profiles do not have them.
struct CoreCounts {
  std::int64_t cube = 0, vector = 0;  ///< 0: not stated
};

/// The findings of all rules in a profile and its logs, what could save most of the step first.
/// Without a known step, shares are of the device time. The amount of evidence is bounded.
std::vector<Finding> find_remarks(const IngestResult& result, const CoreCounts& cores);

}  // namespace opbench
