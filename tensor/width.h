#pragma once

#include <cstddef>
#include <cstdint>

namespace opbench {

/// Calls `body` with an unsigned integer of `bytes` bytes (1, 2, 4, else 8): what moves elements
/// needs no more of their type.
template <class Body>
void visit_width(std::size_t bytes, Body&& body) {
  switch (bytes) {
    case 1:
      return body(std::uint8_t{});
    case 2:
      return body(std::uint16_t{});
    case 4:
      return body(std::uint32_t{});
    default:
      return body(std::uint64_t{});
  }
}

}  // namespace opbench
