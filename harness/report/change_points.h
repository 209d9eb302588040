#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace opbench::check {

/// Change points of the distribution of a series: the first place of each new segment, ascending.
///
/// E-divisive: splits at the largest energy distance of both sides, as long as at most 5% of 199
/// permutations within the segments reach that distance. Segments have three values or more. A
/// split compares all values before it in its segment with all values after it. The seed is fixed:
/// equal series have equal change points. Source: Matteson & James 2014, J. Am. Stat. Assoc. 109,
/// 334-345, with the exponent 1; for times of benchmarks, Daly et al. 2020, ICPE '20, 67-75.
std::vector<std::size_t> change_points(std::span<const double> series);

/// The latest runs of each case that are used. The time for splits grows with the square.
inline constexpr std::size_t kLongestSeries = 100;

}  // namespace opbench::check
