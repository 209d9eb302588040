#include "harness/judge/failure_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace opbench {
namespace {

/// The values of an input at wrong elements, and at right ones.
struct ValueSplit {
  std::vector<double> wrong, right;  // sorted, without NaN
  bool is_nan_wrong = false, is_nan_right = false;

  ValueSplit(const std::vector<bool>& elements, const InputValues& input) {
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const double value = input.values[i];
      if (std::isnan(value)) {
        (elements[i] ? is_nan_wrong : is_nan_right) = true;
      } else {
        (elements[i] ? wrong : right).push_back(value);
      }
    }
    std::sort(wrong.begin(), wrong.end());
    std::sort(right.begin(), right.end());
  }
};

std::string value_range(const std::vector<bool>& elements, const InputValues& input) {
  const ValueSplit values(elements, input);
  if (values.wrong.empty()) {
    return values.is_nan_right ? std::string() : fmt::format("only {} = NaN", input.name);
  }
  if (values.is_nan_wrong || values.right.empty()) return {};
  const double least = values.wrong.front(), most = values.wrong.back();
  const auto above = std::lower_bound(values.right.begin(), values.right.end(), least);
  if (above != values.right.end() && *above <= most) return {};  // a right one between wrong ones
  if (least == most) return fmt::format("only {} = {:.9g}", input.name, least);
  if (above == values.right.end()) return fmt::format("only {} > {:.6g}", input.name, *(above - 1));
  if (above == values.right.begin()) return fmt::format("only {} < {:.6g}", input.name, *above);
  constexpr std::size_t kFewest = 3;  // two may be neighbours by chance
  if (values.wrong.size() < kFewest) return {};
  return fmt::format("only {} from {:.6g} to {:.6g}", input.name, least, most);
}

/// Which places along one axis hold wrong elements.
struct AxisPlaces {
  std::vector<bool> wrong;

  AxisPlaces(const std::vector<bool>& elements, const Dims& shape, std::size_t axis)
      : wrong(static_cast<std::size_t>(shape[axis])) {
    std::size_t inner = 1;
    for (std::size_t i = axis + 1; i < shape.size(); ++i)
      inner *= static_cast<std::size_t>(shape[i]);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (elements[i]) wrong[i / inner % wrong.size()] = true;
    }
  }

  // At some places of this axis nothing is wrong, and at the others half of all or more.
  bool is_told(std::ptrdiff_t wrong_elements, std::size_t elements) const {
    const auto places = static_cast<std::size_t>(std::count(wrong.begin(), wrong.end(), true));
    const std::size_t covered = elements / wrong.size() * places;
    return places < wrong.size() && 2 * static_cast<std::size_t>(wrong_elements) >= covered;
  }
};

std::string places_text(std::size_t axis, const AxisPlaces& places) {
  const auto first = std::find(places.wrong.begin(), places.wrong.end(), true);
  const auto end = std::find(places.wrong.rbegin(), places.wrong.rend(), true).base();
  const auto from = first - places.wrong.begin(), to = end - places.wrong.begin();
  const bool is_run = std::find(first, end, false) == end;
  if (is_run && to - from == 1) return fmt::format("only axis {} = {}", axis, from);
  if (is_run && end == places.wrong.end())
    return fmt::format("only axis {} from {} on", axis, from);
  if (is_run) return fmt::format("only axis {} from {} to {}", axis, from, to - 1);
  for (const std::size_t period : {2, 4, 8, 16, 32, 64, 128, 256}) {
    if (places.wrong.size() < 2 * period) break;
    const std::size_t rest = static_cast<std::size_t>(from) % period;
    bool fits = true;
    for (std::size_t i = 0; i < places.wrong.size(); ++i)
      fits &= places.wrong[i] == (i % period == rest);
    if (fits) return fmt::format("only axis {} where i % {} = {}", axis, period, rest);
  }
  return {};
}

// All elements together, in memory's order.
std::string run_text(const std::vector<bool>& wrong) {
  const auto first = std::find(wrong.begin(), wrong.end(), true);
  const auto end = std::find(wrong.rbegin(), wrong.rend(), true).base();
  if (std::find(first, end, false) != end) return {};
  const auto count = end - first;
  if (count == 1)
    return fmt::format("a single element, {} of {}", first - wrong.begin(), wrong.size());
  if (end == wrong.end()) return fmt::format("the last {} of {} elements", count, wrong.size());
  if (first == wrong.begin())
    return fmt::format("the first {} of {} elements", count, wrong.size());
  return fmt::format("{} elements in a row, from {} of {} on", count, first - wrong.begin(),
                     wrong.size());
}

}  // namespace

std::string failure_pattern(const std::vector<bool>& wrong, const Dims& shape,
                            std::span<const InputValues> inputs) {
  const auto count = std::count(wrong.begin(), wrong.end(), true);
  if (count == 0 || count == std::ssize(wrong)) return {};
  for (const InputValues& input : inputs) {
    if (std::string text = value_range(wrong, input); !text.empty() && count > 1) return text;
  }
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const AxisPlaces places(wrong, shape, axis);
    if (count == 1 || !places.is_told(count, wrong.size())) continue;
    if (std::string text = places_text(axis, places); !text.empty()) return text;
  }
  return run_text(wrong);
}

}  // namespace opbench
