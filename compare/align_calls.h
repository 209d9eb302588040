#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace opbench {

/// How alike two calls are: 0 or more.
using Likeness = std::function<double(std::size_t actual, std::size_t expected)>;

/// Pairs of places in two sequences, both rising.
using Alignment = std::vector<std::pair<std::size_t, std::size_t>>;

/// The order-preserving pairing with the largest sum of likenesses; of equal ones that with the
/// earliest partners. None beyond what `most_cells` comparisons find: the search keeps to a band
/// around the diagonals that both lengths ask for, after what is alike at both ends (likeness of at
/// least `sure`) has been paired. Empty if not even the narrowest band fits.
Alignment align(std::size_t actual, std::size_t expected, const Likeness& likeness, double sure,
                std::size_t most_cells);

}  // namespace opbench
