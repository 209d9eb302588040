#pragma once

#include <string>
#include <string_view>

#include "ops/likely_attrs.h"

namespace opbench {

/// The numbers among logged attributes, "{data_format = NCHW, groups = 1, strides = [1, 1, 2, 2]}",
/// as frameworks state them: of strides, dilations and ksize the two of the plane, of pads those
/// above and to the left, where they are the same on both sides (else all four). Words are left
/// out.
NamedNumbers attrs_of_log(std::string_view op, std::string_view logged);

/// "strides=[2,2] pads=[1,1]"
std::string to_string(const NamedNumbers& attrs);

}  // namespace opbench
