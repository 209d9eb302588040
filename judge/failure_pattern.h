#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "judge/evidence.h"
#include "tensor/shape.h"

namespace opbench {

/// Where all wrong elements of a tensor are, and few right ones: at some places of an axis, or in
/// one run in memory's order.
struct WrongPlaces {
  std::optional<std::size_t> axis;    ///< none: elements in memory's order
  std::size_t extent = 0;             ///< of the axis, or elements of the tensor
  std::size_t from = 0, to = 0;       ///< the first wrong place, and one past the last
  std::size_t period = 0;             ///< above 0: not all from `from` to `to`, but
  std::vector<std::size_t> residues;  ///< those whose remainder by it is one of these

  bool is_tail() const { return period == 0 && to == extent; }
};

/// The first axis at some places of which nothing is wrong, and at the others half of all or more,
/// if these are in one run or come back with a period of 2 to 256; else the run of elements. None
/// if all are wrong, or nothing is, or there is no such run. `wrong` has an entry for each element
/// of `shape`, in row-major order.
std::optional<WrongPlaces> wrong_places(const std::vector<bool>& wrong, const Dims& shape);

/// "only axis 1 from 16 on", "only axis 3 where i % 16 = 15", "the last 3 of 35 elements".
std::string to_string(const WrongPlaces& places);

/// What wrong elements have in common that right ones do not: "only self > 88.72", "only axis 1
/// from 16 on", "only axis 3 where i % 16 = 15", "the last 3 elements", "the last block of 64".
/// Empty: nothing that is known, or all are wrong. `wrong` has an entry for each element of
/// `shape`, in row-major order.
std::string failure_pattern(const std::vector<bool>& wrong, const Dims& shape,
                            std::span<const InputValues> inputs);

}  // namespace opbench
