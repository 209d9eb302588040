#include "text/byte_size.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>

namespace opbench {

std::string byte_size_text(double bytes) {
  constexpr std::array kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  // What four digits would round up to 1024 belongs to the next.
  for (; bytes >= 1023.95 && unit + 1 < kUnits.size(); ++unit) bytes /= 1024;
  return fmt::format("{:.4g} {}", bytes, kUnits[unit]);
}

}  // namespace opbench
