#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/check/compared_case.h"

namespace opbench::check {

// What is said of all that was compared together.

/// A spread above this hides what anyone would want to know.
inline constexpr double kLargestNoise = 0.10;

/// The smallest change that the rounds of a typical variant can show, by the spread of its
/// screening: the median over all that were timed. None: nothing was.
std::optional<double> typical_noise(const std::vector<ComparedCase>& cases);

/// Sets `adjusted_p` of all findings for the number of comparisons. What is already the same is no
/// discovery, however sure its small change is.
void adjust_for_all(std::vector<ComparedCase>& cases);

/// Says in a notice how much the end of the budget left undecided, if it did.
void note_budget(const std::vector<Item>& items, double budget_s,
                 std::vector<std::string>& notices);

}  // namespace opbench::check
