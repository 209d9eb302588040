#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "harness/check/check.h"
#include "profiles/ingest.h"
#include "profiles/report_lines.h"

namespace opbench::check {

/// An operator of two profiles: tasks of equal type, logical shapes and dtypes.
struct ProfileChange {
  std::string type, signature;   ///< "8,16 FLOAT -> 8,16 FLOAT"
  std::string signature_before;  ///< set if other formats store other shapes
  ChangeVerdict verdict = ChangeVerdict::ambiguous;
  std::int64_t count_before = 0, count_after = 0;
  /// Medians over steps, or over tasks if there are few steps; 0: missing.
  double before_us = 0, after_us = 0;
  double change = 0;             ///< 0.05: 5 % slower
  Interval interval;             ///< 99 %, of `change`
  double p = 1, adjusted_p = 1;  ///< of the hypothesis of no change; adjusted for all operators
  bool has_few = false;          ///< fewer than three times on one side: no verdict
  double of_network = 0;         ///< change relative to the earlier device time: 0.05 is 5 %
  std::string formats;           ///< "NCHW -> NC1HWC0" if they changed; else empty
  SourceRow at;  ///< in the later profile; for a removed operator in the earlier one
};

/// An operator of the framework in two profiles, over all shapes.
struct HostChange {
  std::string name;
  std::string name_before;  ///< set if the devices name it differently
  std::int64_t calls_before = 0, calls_after = 0;
  double before_us = 0, after_us = 0;  ///< without operators inside
};

/// The operators of the framework in two profiles, the longest first. Times are those of the
/// device; of the host if the profile has no device.
struct HostComparison {
  std::vector<HostChange> changes;
  bool is_device_before = false, is_device_after = false;
};

/// Compares operators by name: a GPU and an NPU that ran one script have no kernels in common.
/// Without operators on both sides there are no changes.
HostComparison compare_hosts(const TraceProfile& before, const TraceProfile& after);

/// Two profiles of one network.
struct ProfileComparison {
  std::vector<ProfileChange> changes;  ///< largest effect on the network first
  double before_us = 0, after_us = 0;  ///< device time of all operators
  /// Number of runs of the network in the later profile, for one run in the earlier.
  double runs = 1;
  HostComparison host = {};

  std::int64_t count(ChangeVerdict verdict) const;
  /// Number of operators in both profiles.
  std::int64_t common() const;
  /// True if less than half of the operators of the smaller profile are also in the other one.
  bool is_of_two_networks() const;
};

/// Compares profiles that were read with samples (`HotSpots::keep_samples`). The profiles were not
/// measured in turn, so all changes of the device in between affect the times. Therefore the
/// comparison only watches: nothing fails. Like in `run_watch`, a change needs twice the rule's
/// threshold and a 99 % interval without 0. In addition, the false discovery rate over all
/// operators is 1 %. An operator is the same if its 90 % interval lies inside the threshold. Fewer
/// than three samples give no verdict. An operator that is stored in other formats is the same
/// operator.
ProfileComparison compare_profiles(const IngestResult& before, const IngestResult& after,
                                   const SpeedRule& rule);

/// True if the profile has operators with times, of a device or of the host.
bool can_compare(const IngestResult& profile);

/// Prints a text report.
void print_profile_comparison(std::ostream& out, const ProfileComparison& comparison,
                              const ReportLayout& layout);

/// {"schema": "opbench-ingest-comparison", "schema_version", "mode": "watch", "before_us", ...}
void write_profile_comparison(std::ostream& out, const ProfileComparison& comparison,
                              const std::string& command_line);

}  // namespace opbench::check
