#include "tensor/half_bits.h"

#include <atomic>

#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::uint16_t kExponent = 0x7C00, kMantissa = 0x03FF, kSign = 0x8000, kLargest = 0x7BFF;

}  // namespace

std::uint16_t saturated_fp16(std::uint16_t bits) {
  const bool is_special = (bits & kExponent) == kExponent;
  const bool is_nan = is_special && (bits & kMantissa) != 0;
  const auto largest = static_cast<std::uint16_t>((bits & kSign) | kLargest);
  return is_nan ? std::uint16_t{0} : is_special ? largest : bits;
}

bool saturate_fp16(void* data, std::int64_t elements) {
  constexpr std::int64_t kGrain = 32 * 1024;  // worth waking a thread for
  auto* values = static_cast<std::uint16_t*>(data);
  std::atomic<bool> any = false;
  parallel_ranges(elements, kGrain, [values, &any](std::int64_t begin, std::int64_t end) {
    std::uint16_t changed = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::uint16_t before = values[i];
      values[i] = saturated_fp16(before);
      changed = static_cast<std::uint16_t>(changed | (before ^ values[i]));
    }
    if (changed != 0) any = true;
  });
  return any;
}

}  // namespace opbench
