#include "tensor/printable.h"

#include <fmt/format.h>

namespace opbench {

std::string printable(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte < 0x20 || byte == 0x7f)
      result += fmt::format("\\x{:02x}", byte);
    else
      result += letter;
  }
  return result;
}

}  // namespace opbench
