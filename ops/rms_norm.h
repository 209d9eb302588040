#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ops/layer_norm.h"
#include "ops/normalised_rows.h"

namespace opbench {

/// The view of input `x` in rms_norm, add_rms_norm and their gradients. The rows have the extents
/// of attribute `normalized_shape`; if it is [], those of input `weight` if it is given, else of
/// the last axis. Errors: those of norm_rows; throws Error if the weight has another shape, or a
/// dtype other than that of `x` or fp32.
NormRows rms_rows(std::string_view op, std::span<const TensorDesc> inputs, std::size_t x,
                  std::size_t weight, const Attrs& attrs);

/// Errors: throws Error that names the operator and input `i` unless it has one number for each
/// row.
void require_statistic(std::string_view op, const TensorDesc& desc, const NormRows& rows);

/// The attributes normalized_shape and weight_offset.
std::vector<AttrSpec> rms_attrs();
/// Those attributes and epsilon.
std::vector<AttrSpec> rms_attrs_with_epsilon();

using UncentredRows = NormalisedRows<std::size_t (*)(std::size_t, std::size_t)>;

/// Rows without a mean. The weights are those of input `weight`, or 1 if it is not given, plus
/// attribute weight_offset.
UncentredRows uncentred_rows(const NormRows& rows, std::span<const InputReader> inputs,
                             std::size_t weight, const Attrs& attrs);

}  // namespace opbench
