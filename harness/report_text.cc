#include "harness/report_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace opbench {

std::string time_text(double us) {
  if (us < 1e3) return fmt::format("{:.2f} us", us);
  if (us < 1e6) return fmt::format("{:.3f} ms", us / 1e3);
  return fmt::format("{:.3f} s ", us / 1e6);
}

std::string ulp_text(const Record& record) {
  if (!record.is_compared) return "-";
  if (record.max_ulp < 1e5) return fmt::format("{:.0f}", record.max_ulp);
  return fmt::format("{:.0e}", record.max_ulp);
}

std::string with_short_lists(const std::string& text) {
  constexpr std::ptrdiff_t kShown = 3, kMost = 8;
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t close = text[at] == '[' ? text.find(']', at) : std::string::npos;
    const std::size_t end = close == std::string::npos ? at + 1 : close + 1;
    const std::string part = text.substr(at, end - at);
    const auto numbers = std::count(part.begin(), part.end(), ',') + 1;
    if (numbers > kMost && part.find_first_not_of("[]-,0123456789") == std::string::npos) {
      std::size_t shown = 0;
      for (std::ptrdiff_t i = 0; i < kShown; ++i) shown = part.find(',', shown) + 1;
      result += fmt::format("{}... {} numbers]", part.substr(0, shown), numbers);
      at = end;
    } else {
      result += text[at++];
    }
  }
  return result;
}

std::string case_title(const Record& record) {
  std::string title =
      fmt::format("{} {} {} {}", record.op, record.shape, record.dtype, record.format);
  if (!record.attributes.empty()) title += fmt::format(" {}", with_short_lists(record.attributes));
  if (record.backward) title += " forward+mean+backward";
  return title;
}

}  // namespace opbench
