#pragma once

#include <functional>
#include <vector>

#include "ops/conv2d.h"

namespace opbench {

inline const std::vector<Format> kConv2dFormats = {Format::NCHW, Format::NC1HWC0};
inline const std::vector<Format> kWeightFormats = {Format::NCHW, Format::FRACTAL_Z};

/// How the weight of a case is stored beside activations in `x`'s format: FRACTAL_Z with the
/// operator's groups beside NC1HWC0, else plain.
void store_weight_beside(const TensorDesc& x, const Attrs& attrs, TensorDesc& weight);

/// Errors: throws Error unless a weight in FRACTAL_Z is packed for `groups` groups.
void require_groups_stored(std::string_view op, const TensorDesc& weight, std::int64_t groups);

/// Cuts a range of elements at planes of `plane` elements: body(index of the plane, part within the
/// plane, position of the part in the range).
void for_each_plane(
    ElementRange range, std::int64_t plane,
    const std::function<void(std::int64_t index, ElementRange part, std::int64_t at)>& body);

}  // namespace opbench
