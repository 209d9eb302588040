#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "judge/evidence.h"
#include "tensor/shape.h"

namespace opbench {

/// Adds what finite values tell: see DepartureEvidence. Of the elements marked in `only`, if that
/// is given.
void add_value_evidence(const DepartedValues& values, const std::vector<bool>* only,
                        DepartureEvidence& evidence);

/// The first axis of `shape` along which `actual` holds the slices of `expected` in another order
/// (a permuted channel, a reversed batch), but for a twentieth of what they differ by as they are;
/// none if there is no such axis of up to 65,536 slices. Both have the elements of `shape`, all
/// finite.
std::optional<std::size_t> reordered_axis(std::span<const double> actual,
                                          std::span<const double> expected, const Dims& shape);

}  // namespace opbench
