#pragma once

#include <cstdint>
#include <functional>

#include "tensor/element_map.h"
#include "tensor/element_rectangle.h"
#include "tensor/elements.h"

namespace opbench {

/// Cuts a logical range into few rectangles and visits each; every element once, not in order.
/// Lanes run along the axis that is dense in storage where the last logical one is not, so that a
/// cache line is not fetched once for each of its elements.
void for_each_rectangle(const ElementMap& map, ElementRange range,
                        const std::function<void(const ElementRectangle&)>& visit);

/// Where one logical element lies in storage, in elements.
std::int64_t stored_at(const ElementMap& map, std::int64_t element);

/// Elements in logical order after which a rectangle with as many lanes as a cut block has (16 if
/// nothing is cut) is complete; ranges of multiples of it are walked best. At least 1.
std::int64_t preferred_range(const ElementMap& map);

}  // namespace opbench
