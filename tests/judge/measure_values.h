#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "judge/measure_chunk.h"
#include "judge/measure_pairs.h"

namespace opbench {

/// Sizes around vectors, buffered errors that are not yet counted, and blocks.
inline constexpr std::size_t kPairSizes[] = {0,
                                             1,
                                             2,
                                             3,
                                             4,
                                             5,
                                             7,
                                             8,
                                             9,
                                             15,
                                             16,
                                             17,
                                             31,
                                             33,
                                             63,
                                             64,
                                             65,
                                             127,
                                             1000,
                                             kMeasureBlock - 1,
                                             kMeasureBlock,
                                             kMeasureBlock + 1,
                                             2 * kMeasureBlock + 3};

/// Deterministic values from -8 to 8 around `centre`, in steps of 2^-20.
std::vector<float> some_values(std::size_t count, std::uint64_t seed, float centre = 0);

/// `values` with small errors on two of three elements, and some zeros and changed signs.
std::vector<float> nearby_values(std::vector<float> values, std::uint64_t seed);

/// The exact numbers of a result: counts, maxima and indices.
std::vector<double> exact_numbers(const PairMeasures& measures);

/// The sums of a result. Their last bits depend on the order of addition.
std::vector<double> summed_numbers(const PairMeasures& measures);

/// True if both are equal to the last bit.
bool same_bits(const PairMeasures& a, const PairMeasures& b);

/// Expects equal counts, maxima and indices, and sums that agree to `relative`.
void expect_close(const PairMeasures& a, const PairMeasures& b, double relative);

}  // namespace opbench
