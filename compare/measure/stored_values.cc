#include "compare/measure/stored_values.h"

#include <algorithm>
#include <type_traits>

#include "compare/measure/stored_visit.h"

namespace opbench {
namespace {

bool is_bool(const ValueKind& kind) {
  return kind.dtype == DType::boolean || kind.stored == StoredType::boolean;
}

bool is_floating(StoredType stored) {
  return stored == StoredType::f16 || stored == StoredType::f32 || stored == StoredType::f64;
}

}  // namespace

bool fits_float(const ValueKind& kind) {
  return is_bool(kind) || size_of(kind.stored) <= 2 || kind.stored == StoredType::f32;
}

bool is_wide_integer(const ValueKind& kind) {
  return !is_bool(kind) && (kind.stored == StoredType::i64 || kind.stored == StoredType::u64);
}

bool is_integer(const ValueKind& kind) { return is_bool(kind) || !is_floating(kind.stored); }

bool means_what_it_stores(const ValueKind& kind) {
  if (kind.stored == StoredType::boolean) return true;
  return !is_bool(kind) && (kind.dtype != DType::uint8 || kind.stored != StoredType::i8);
}

void stored_to_floats(StoredType stored, const void* from, std::int64_t count, float* to) {
  // A dtype that changes nothing, whatever is stored.
  values_to_floats({stored, DType::fp32}, from, count, to);
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

std::int64_t count_true(const void* from, std::int64_t count, StoredType stored) {
  std::int64_t found = 0;
  visit_stored(stored, [&]<class T>(T) {
    const auto* typed = static_cast<const T*>(from);
    found = count - std::count(typed, typed + count, T(0));
  });
  return found;
}

}  // namespace opbench
