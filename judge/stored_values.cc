#include "judge/stored_values.h"

#include <algorithm>
#include <type_traits>

#include "dump/stored_visit.h"

namespace opbench {
namespace {

bool is_bool(const ValueKind& kind) {
  return kind.dtype == DType::boolean || kind.stored == StoredType::boolean;
}

bool is_floating(StoredType stored) {
  return stored == StoredType::f16 || stored == StoredType::bf16 || stored == StoredType::f32 ||
         stored == StoredType::f64;
}

}  // namespace

bool fits_float(const ValueKind& kind) {
  return is_bool(kind) || size_of(kind.stored) <= 2 || kind.stored == StoredType::f32;
}

bool is_integer(const ValueKind& kind) { return is_bool(kind) || !is_floating(kind.stored); }

bool means_what_it_stores(const ValueKind& kind) {
  if (kind.stored == StoredType::boolean) return true;
  return !is_bool(kind) && (kind.dtype != DType::uint8 || kind.stored != StoredType::i8);
}

void values_to_floats(const ValueKind& kind, const void* from, std::int64_t count, float* to) {
  visit_values(kind, [&]<class T>(T, auto convert) {
    const auto* typed = static_cast<const T*>(from);
    if constexpr (std::is_same_v<decltype(convert(T())), half>) {
      widen(typed, to, static_cast<std::size_t>(count));
    } else {
      std::transform(typed, typed + count, to, [&](T v) { return static_cast<float>(convert(v)); });
    }
  });
}

void values_to_doubles(const ValueKind& kind, const void* from, std::int64_t count, double* to) {
  visit_values(kind, [&]<class T>(T, auto convert) {
    const auto* typed = static_cast<const T*>(from);
    std::transform(typed, typed + count, to, [&](T v) { return static_cast<double>(convert(v)); });
  });
}

}  // namespace opbench
