#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "judge/evidence.h"
#include "tensor/shape.h"

namespace opbench {

/// The places of all wrong elements of a tensor and of few right ones: some places of an axis, or a
/// run in memory order.
struct WrongPlaces {
  std::optional<std::size_t> axis;    ///< none: elements in memory's order
  std::size_t extent = 0;             ///< of the axis, or elements of the tensor
  std::size_t from = 0, to = 0;       ///< the first wrong place, and one past the last
  std::size_t period = 0;             ///< above 0: not all from `from` to `to`, but
  std::vector<std::size_t> residues;  ///< those whose remainder by it is one of these

  bool is_tail() const { return period == 0 && to == extent; }
};

/// The first axis that separates wrong elements: at some of its places no element is wrong, and at
/// the others at least half are wrong. The latter must be one run, or recur with a period of 2 to
/// 256. Without such an axis: the run of elements. Empty if all or no elements are wrong, or if
/// there is no such run. `wrong` has an entry for each element of `shape`, in row-major order.
std::optional<WrongPlaces> wrong_places(const std::vector<bool>& wrong, const Dims& shape);

/// "only axis 1 from 16 on", "only axis 3 where i % 16 = 15", "the last 3 of 35 elements".
std::string to_string(const WrongPlaces& places);

/// A property that only wrong elements have: "only self > 88.72", "only axis 1 from 16 on", "only
/// axis 3 where i % 16 = 15", "the last 3 elements", "the last block of 64". Empty if no such
/// property is found or all elements are wrong. `wrong` has an entry for each element of `shape`,
/// in row-major order.
std::string failure_pattern(const std::vector<bool>& wrong, const Dims& shape,
                            std::span<const InputValues> inputs);

}  // namespace opbench
