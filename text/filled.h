#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace opbench {

/// Names and texts of the places of a template.
using TextFields = std::vector<std::pair<std::string_view, std::string>>;

/// The template with each {{NAME}} replaced by its text. Later fields also fill the texts of
/// earlier ones.
std::string filled(std::string text, const TextFields& fields);

/// A text from outside, for comments and strings of programs: one line, without quotes and
/// backslashes.
std::string without_escapes(std::string_view text);

}  // namespace opbench
