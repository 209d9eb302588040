#include "judge/failure_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "judge/wrong_places.h"

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

}  // namespace

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
