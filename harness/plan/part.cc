#include "harness/plan/part.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "tensor/error.h"

namespace opbench {

Part parse_part(const std::string& text) {
  Part part;
  const auto whole = [](std::string_view digits, int& value) {
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return status == std::errc{} && end == digits.data() + digits.size();
  };
  const auto slash = text.find('/');
  const std::string_view view = text;
  if (slash == std::string::npos || !whole(view.substr(0, slash), part.index) ||
      !whole(view.substr(slash + 1), part.count) || part.index < 1 || part.index > part.count ||
      part.count > kMostParts) {
    throw Error(fmt::format("--part '{}' must be K/N with 1 <= K <= N <= {}, such as 1/4", text,
                            kMostParts));
  }
  return part;
}

std::string to_string(const Part& part) { return fmt::format("{}/{}", part.index, part.count); }

}  // namespace opbench
