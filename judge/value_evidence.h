#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "judge/evidence.h"
#include "tensor/shape.h"

namespace opbench {

/// Adds properties of finite values: see DepartureEvidence. Uses only the elements marked in
/// `only`, if it is given.
void add_value_evidence(const DepartedValues& values, const std::vector<bool>* only,
                        DepartureEvidence& evidence);

/// The first axis of `shape` along which `actual` has the slices of `expected` in another order (a
/// permuted channel, a reversed batch). The reordered slices may differ by a twentieth of the
/// original difference. Empty if there is no such axis of up to 65,536 slices. Both have the
/// elements of `shape`, all finite.
std::optional<std::size_t> reordered_axis(std::span<const double> actual,
                                          std::span<const double> expected, const Dims& shape);

}  // namespace opbench
