#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <cwchar>

namespace opbench {

/// Writes an element of 1, 2, 4 or 8 bytes `count` times, narrow ones at the speed of the C
/// library's wmemset, which uses the machine's vectors.
inline void repeat_element(const void* element, std::size_t bytes, std::int64_t count, void* to) {
  if (bytes == 1) {
    std::memset(to, *static_cast<const unsigned char*>(element), static_cast<std::size_t>(count));
    return;
  }
  if (bytes == 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, element, 8);
    std::fill_n(static_cast<std::uint64_t*>(to), count, eight);
    return;
  }
  static_assert(sizeof(wchar_t) == 4);
  auto* out = static_cast<std::byte*>(to);
  std::uint32_t pattern = 0;
  if (bytes == 4) {
    std::memcpy(&pattern, element, 4);
    std::wmemset(reinterpret_cast<wchar_t*>(out), static_cast<wchar_t>(pattern),
                 static_cast<std::size_t>(count));
    return;
  }
  std::uint16_t two = 0;  // copies of a constant size compile without a call
  std::memcpy(&two, element, 2);
  pattern = two * 0x10001u;
  if (count > 0 && reinterpret_cast<std::uintptr_t>(out) % 4 != 0) {
    std::memcpy(out, &two, 2);
    out += 2;
    --count;
  }
  const auto pairs = static_cast<std::size_t>(count / 2);
  std::wmemset(reinterpret_cast<wchar_t*>(out), static_cast<wchar_t>(pattern), pairs);
  if (count % 2 != 0) std::memcpy(out + 4 * pairs, &two, 2);
}

/// Consecutive units of 2, 4, 8, 16, 32 or 64 bytes that are repeated `count` times each.
struct RepeatedUnits {
  const void* units;
  std::size_t bytes;  ///< of a unit
  std::int64_t units_count, count;
};

/// Writes unit 0 `count` times, unit 1 `count` times and so on. `stream`: past the cache.
void repeat_units(const RepeatedUnits& of, bool stream, void* to);

}  // namespace opbench
