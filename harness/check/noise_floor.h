#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/check/compared_case.h"

namespace opbench::check {

/// A floor above this hides what anyone would want to know.
inline constexpr double kLargestNoiseFloor = 0.10;

/// Called before each case: its number, how many there are, the case. May throw to end all.
using BeforeCase =
    std::function<void(std::size_t done, std::size_t total, const ComparedCase& compared)>;

struct NoiseFloor {
  std::optional<double> share;    ///< none: nothing could be timed
  std::vector<std::string> lost;  ///< workers, with the case, for the report
};

/// The smallest change that this machine can show now, as a share: the other build is measured
/// against itself (`base` and `null` are two processes of it) on cases from all over the plan. What
/// two equal builds differ by is noise. Measured again, in fresh processes, if it is above
/// `kLargestNoiseFloor`: a burst of other work may pass, and where buffers lie in memory makes
/// whole processes slower. It takes a quarter of what is left of the budget at most.
NoiseFloor measure_noise_floor(Peer& base, Peer& null, const std::vector<ComparedCase>& cases,
                               OpenRequest how, const Budget& budget, const BeforeCase& before);

}  // namespace opbench::check
