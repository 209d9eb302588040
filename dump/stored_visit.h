#pragma once

#include <cstdint>
#include <type_traits>

#include "dump/dump_types.h"
#include "tensor/half.h"

namespace opbench {

/// Calls `f` with a value of the C++ type of `stored` elements. Does nothing for `none` and for
/// complex numbers.
template <class F>
void visit_stored(StoredType stored, F f) {
  switch (stored) {
    case StoredType::none:
    case StoredType::c64:
    case StoredType::c128:
      return;
    case StoredType::f16:
      return f(half());
    case StoredType::bf16:
      return f(bfloat16());
    case StoredType::f32:
      return f(float());
    case StoredType::f64:
      return f(double());
    case StoredType::i8:
      return f(std::int8_t());
    case StoredType::i16:
      return f(std::int16_t());
    case StoredType::i32:
      return f(std::int32_t());
    case StoredType::i64:
      return f(std::int64_t());
    case StoredType::u8:
    case StoredType::boolean:
      return f(std::uint8_t());
    case StoredType::u16:
      return f(std::uint16_t());
    case StoredType::u32:
      return f(std::uint32_t());
    case StoredType::u64:
      return f(std::uint64_t());
  }
}

/// Calls `f(element, convert)` with a value of the stored type and the function that converts it
/// to the dtype.
template <class F>
void visit_values(const ValueKind& kind, F f) {
  visit_stored(kind.stored, [&]<class T>(T element) {
    if (kind.dtype == DType::boolean || kind.stored == StoredType::boolean) {
      f(element, [](T v) { return v != T(0) ? std::uint8_t{1} : std::uint8_t{0}; });
      return;
    }
    if constexpr (std::is_same_v<T, std::int8_t>) {
      if (kind.dtype == DType::uint8) {
        f(element, [](T v) { return static_cast<std::uint8_t>(v); });
        return;
      }
    }
    f(element, [](T v) { return v; });
  });
}

}  // namespace opbench
