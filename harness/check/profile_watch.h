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
  std::string signature_before;  ///< where other formats store other shapes; else empty
  ChangeVerdict verdict = ChangeVerdict::ambiguous;
  std::int64_t count_before = 0, count_after = 0;
  double before_us = 0,
         after_us = 0;           ///< medians over steps, of tasks where there are few; 0: none
  double change = 0;             ///< 0.05: 5 % slower
  Interval interval;             ///< 99 %, of `change`
  double p = 1, adjusted_p = 1;  ///< that nothing changed; over all operators of the two
  double of_network = 0;  ///< what its change adds to the earlier device time: 0.05, 5 % of that
  std::string formats;    ///< "NCHW -> NC1HWC0" where they changed; else empty
  SourceRow at;           ///< in the later profile, of what is gone in the earlier one
};

/// Two profiles of one network.
struct ProfileComparison {
  std::vector<ProfileChange> changes;  ///< what weighs most first
  double before_us = 0, after_us = 0;  ///< device time of all
  double runs = 1;                     ///< of the network in the later one, for one in the earlier

  std::int64_t count(ChangeVerdict verdict) const;
  /// Operators of both.
  std::int64_t common() const;
  /// True if less than half of the operators of the smaller profile are in the other one, too.
  bool is_of_two_networks() const;
};

/// Compares profiles that were read with samples (`HotSpots::keep_samples`). Their tasks did not
/// take turns, so that everything that changed on the device in between is in the times: this
/// watches and judges nothing. As in `run_watch` a change needs twice the rule's threshold and a 99
/// % interval without 0; also, over all operators, a false discovery rate of 1 %. The same is one
/// whose 90 % interval lies inside. Fewer than three samples tell nothing. An operator that is
/// stored in other formats is the same one.
ProfileComparison compare_profiles(const IngestResult& before, const IngestResult& after,
                                   const SpeedRule& rule);

/// For people.
void print_profile_comparison(std::ostream& out, const ProfileComparison& comparison,
                              const ReportLayout& layout);

/// {"schema": "opbench-ingest-comparison", "schema_version", "mode": "watch", "before_us", ...}
void write_profile_comparison(std::ostream& out, const ProfileComparison& comparison,
                              const std::string& command_line);

}  // namespace opbench::check
