#pragma once

#include <functional>
#include <vector>

#include "harness/check/compared_case.h"
#include "harness/check/rounds.h"

namespace opbench::check {

/// Compares the first calls of all variants that were timed: what a process pays before it has a
/// result of an operator that it has not run yet. Each call is made in a process of its own that
/// has opened the case and nothing else; timed are the preparation of the kernels and the call.
///
/// Screening: 12 pairs of processes for each variant. What is not the same gets 30 more with the
/// other build against itself beside, and 30 again to confirm, the worst first. Left in
/// `first_calls` of the cases are times and findings, as those of calls that repeat are.
class FirstCalls {
 public:
  using Announce = std::function<void(std::size_t done, std::size_t total, const ComparedCase&)>;

  /// `rule_of`: what counts as a change. All must outlive it.
  FirstCalls(std::vector<ComparedCase>& cases, Rounds& rounds, const Budget& budget,
             std::function<SpeedRule(const ComparedCase&)> rule_of);

  void compare(const Announce& announce);

 private:
  struct Place {
    ComparedCase* compared;
    std::size_t variant;  ///< among its first calls
  };

  ComparedVariant& at(const Place& place) const {
    return place.compared->first_calls[place.variant];
  }
  std::vector<Place> open_places() const;
  void take(const Place& place, StageMember stage);

  std::vector<ComparedCase>& cases_;
  Rounds& rounds_;
  const Budget& budget_;
  std::function<SpeedRule(const ComparedCase&)> rule_of_;
};

}  // namespace opbench::check
