#pragma once

#include <span>
#include <string>
#include <string_view>

namespace opbench {

/// The candidate with the smallest edit distance to `text`, for "did you mean"; empty if none is
/// near.
std::string nearest(std::string_view text, std::span<const std::string> candidates);

/// "; did you mean 'softplus'?" or "; allowed: a, b, c".
std::string suggestion(std::string_view text, std::span<const std::string> candidates);

}  // namespace opbench
