#pragma once

#include <functional>
#include <vector>

#include "harness/check/compared_case.h"
#include "harness/check/rounds.h"

namespace opbench::check {

/// Compares the first calls of all timed variants: the cost of an operator that a process runs for
/// the first time. Each call is made in a process of its own that has opened this case only. The
/// time includes the preparation of the kernels and the call.
///
/// Screening: 12 pairs of processes for each variant. Variants that differ get 30 more pairs and an
/// A/A control of the baseline, and 30 again to confirm, the slowest first. Times and findings are
/// stored in `first_calls` of the cases, in the form of those of repeated calls.
class FirstCalls {
 public:
  using Announce = std::function<void(std::size_t done, std::size_t total, const ComparedCase&)>;

  /// `rule_of`: criterion for a change. All arguments must outlive this object.
  FirstCalls(std::vector<ComparedCase>& cases, Rounds& rounds, const Budget& budget,
             std::function<SpeedRule(const ComparedCase&)> rule_of);

  /// `is_noisy`: the machine hides small changes. Only variants that look slower in the screening
  /// are measured further.
  void compare(const Announce& announce, bool is_noisy);

 private:
  struct Place {
    ComparedCase* compared;
    std::size_t variant;  ///< index in its first calls
  };

  ComparedVariant& at(const Place& place) const {
    return place.compared->first_calls[place.variant];
  }
  std::vector<Place> open_places(bool only_suspects) const;
  void take(const Place& place, StageMember stage);

  std::vector<ComparedCase>& cases_;
  Rounds& rounds_;
  const Budget& budget_;
  std::function<SpeedRule(const ComparedCase&)> rule_of_;
};

}  // namespace opbench::check
