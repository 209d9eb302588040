#include "judge/failure_pattern.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace opbench {
namespace {

/// The places along one axis that have wrong elements.
struct AxisPlaces {
  std::vector<bool> wrong;

  AxisPlaces(const std::vector<bool>& elements, const Dims& shape, std::size_t axis)
      : wrong(static_cast<std::size_t>(shape[axis])) {
    std::size_t inner = 1;
    for (std::size_t i = axis + 1; i < shape.size(); ++i)
      inner *= static_cast<std::size_t>(shape[i]);
    std::size_t place = 0;
    for (std::size_t i = 0; i < elements.size(); i += inner) {
      for (std::size_t k = i; k < i + inner && !wrong[place]; ++k) wrong[place] = elements[k];
      if (++place == wrong.size()) place = 0;
    }
  }

  // True if no element is wrong at some places of this axis, and at least half are wrong at the
  // others.
  bool is_told(std::size_t wrong_elements, std::size_t elements) const {
    const auto places = static_cast<std::size_t>(std::count(wrong.begin(), wrong.end(), true));
    const std::size_t covered = elements / wrong.size() * places;
    return places < wrong.size() && 2 * wrong_elements >= covered;
  }
};

// The places from the first wrong one to the last.
WrongPlaces all_between(const std::vector<bool>& wrong) {
  WrongPlaces places;
  places.extent = wrong.size();
  places.from =
      static_cast<std::size_t>(std::find(wrong.begin(), wrong.end(), true) - wrong.begin());
  places.to = static_cast<std::size_t>(std::find(wrong.rbegin(), wrong.rend(), true).base() -
                                       wrong.begin());
  return places;
}

bool is_one_run(const std::vector<bool>& wrong, const WrongPlaces& places) {
  const auto at = [&](std::size_t i) { return wrong.begin() + static_cast<std::ptrdiff_t>(i); };
  return std::find(at(places.from), at(places.to), false) == at(places.to);
}

bool comes_back(const std::vector<bool>& wrong, std::size_t period) {
  for (std::size_t i = period; i < wrong.size(); ++i) {
    if (wrong[i] != wrong[i - period]) return false;
  }
  return true;
}

std::optional<WrongPlaces> places_of(const std::vector<bool>& wrong) {
  WrongPlaces places = all_between(wrong);
  if (is_one_run(wrong, places)) return places;
  for (const std::size_t period : {2, 4, 8, 16, 32, 64, 128, 256}) {
    if (wrong.size() < 2 * period) break;
    if (!comes_back(wrong, period)) continue;
    places.period = period;
    for (std::size_t i = 0; i < period; ++i) {
      if (wrong[i]) places.residues.push_back(i);
    }
    return places;
  }
  return std::nullopt;
}

std::string residues_text(const WrongPlaces& places) {
  const auto& residues = places.residues;
  if (residues.size() == 1) return fmt::format("= {}", residues.front());
  const bool is_run = residues.back() - residues.front() + 1 == residues.size();
  if (is_run) return fmt::format("from {} to {}", residues.front(), residues.back());
  constexpr std::size_t kMost = 4;
  if (residues.size() > kMost) return fmt::format("of {} kinds", residues.size());
  return fmt::format("= {}", fmt::join(residues, " or "));
}

std::string axis_text(const WrongPlaces& places) {
  const std::string axis = fmt::format("only axis {}", *places.axis);
  if (places.period > 0)
    return fmt::format("{} where i % {} {}", axis, places.period, residues_text(places));
  if (places.to - places.from == 1) return fmt::format("{} = {}", axis, places.from);
  if (places.is_tail()) return fmt::format("{} from {} on", axis, places.from);
  return fmt::format("{} from {} to {}", axis, places.from, places.to - 1);
}

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

}  // namespace

std::optional<WrongPlaces> wrong_places(const std::vector<bool>& wrong, const Dims& shape) {
  const auto count = static_cast<std::size_t>(std::count(wrong.begin(), wrong.end(), true));
  if (count == 0 || count == wrong.size()) return std::nullopt;
  for (std::size_t axis = 0; axis < shape.size() && count > 1; ++axis) {
    const AxisPlaces on_axis(wrong, shape, axis);
    if (!on_axis.is_told(count, wrong.size())) continue;
    std::optional<WrongPlaces> places = places_of(on_axis.wrong);
    if (!places) continue;
    places->axis = axis;
    return places;
  }
  const WrongPlaces places = all_between(wrong);
  return is_one_run(wrong, places) ? std::optional(places) : std::nullopt;
}

std::string to_string(const WrongPlaces& places) {
  if (places.axis) return axis_text(places);
  const std::size_t count = places.to - places.from;
  if (count == 1) return fmt::format("a single element, {} of {}", places.from, places.extent);
  if (places.is_tail()) return fmt::format("the last {} of {} elements", count, places.extent);
  if (places.from == 0) return fmt::format("the first {} of {} elements", count, places.extent);
  return fmt::format("{} elements in a row, from {} of {} on", count, places.from, places.extent);
}

std::string failure_pattern(const std::vector<bool>& wrong, const Dims& shape,
                            std::span<const InputValues> inputs) {
  const auto count = std::count(wrong.begin(), wrong.end(), true);
  if (count == 0 || count == std::ssize(wrong)) return {};
  for (const InputValues& input : inputs) {
    if (std::string text = value_range(wrong, input); !text.empty() && count > 1) return text;
  }
  const std::optional<WrongPlaces> places = wrong_places(wrong, shape);
  return places ? to_string(*places) : std::string();
}

}  // namespace opbench
