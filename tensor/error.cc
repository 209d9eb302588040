#include "tensor/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "tensor/utf8.h"

namespace opbench {
namespace {

// The Damerau-Levenshtein distance, restricted to one swap of a pair of letters ("optimal string
// alignment"). It computes one row at a time, from the two rows before.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> second(b.size() + 1), last = second, row = second;
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    second.swap(last);
    last.swap(row);
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = last[j] + (a[i] == b[j] ? 0 : 1);
      row[j + 1] = std::min({replaced, row[j] + 1, last[j + 1] + 1});
      const bool is_swapped = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j];
      if (is_swapped) row[j + 1] = std::min(row[j + 1], second[j - 1] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

Error::Error(const std::string& message) : std::runtime_error(printable(message)) {}

std::string nearest(std::string_view text, std::span<const std::string> candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, text.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(text, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string suggestion(std::string_view text, std::span<const std::string> candidates) {
  const std::string near = nearest(text, candidates);
  if (!near.empty()) return fmt::format("; did you mean '{}'?", near);
  return fmt::format("; allowed: {}", fmt::join(candidates, ", "));
}

}  // namespace opbench
