#include "judge/stored_values.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "dump/stored_visit.h"
#include "ops/cast.h"

namespace opbench {
namespace {

bool is_bool(const ValueKind& kind) {
  return kind.dtype == DType::boolean || kind.stored == StoredType::boolean;
}

bool is_floating(StoredType stored) {
  return stored == StoredType::f16 || stored == StoredType::bf16 || stored == StoredType::f32 ||
         stored == StoredType::f64;
}

// True if the file stores the dtype as in memory: no conversion is needed, not even through fp64.
bool is_stored_as(StoredType stored, DType dtype) {
  switch (dtype) {
    case DType::fp16:
      return stored == StoredType::f16;
    case DType::fp32:
      return stored == StoredType::f32;
    case DType::fp64:
      return stored == StoredType::f64;
    case DType::int8:
      return stored == StoredType::i8;
    case DType::uint8:
      return stored == StoredType::u8 || stored == StoredType::i8;
    case DType::int16:
      return stored == StoredType::i16;
    case DType::int32:
      return stored == StoredType::i32;
    case DType::int64:
      return stored == StoredType::i64;
    default:
      return false;
  }
}

std::vector<double> recorded_numbers(DumpSource& file, const DumpEntry& entry, ElementRange range) {
  std::vector<std::byte> stored(static_cast<std::size_t>(range.count) * size_of(entry.stored));
  std::vector<double> numbers(static_cast<std::size_t>(range.count));
  file.read(entry, range, stored.data());
  values_to_doubles({entry.stored, entry.desc.dtype}, stored.data(), range.count, numbers.data());
  return numbers;
}

bool is_packed(const DumpEntry& entry, const TensorDesc& desc) {
  return desc.dtype == DType::int4 && entry.desc.dtype == DType::int32 &&
         entry.desc.shape != desc.shape;
}

// The packed axis is the one that differs.
void unpack(DumpSource& file, const DumpEntry& entry, const TensorDesc& desc, std::int8_t* to) {
  const Dims& shape = entry.desc.shape;
  const auto axis = std::mismatch(shape.begin(), shape.end(), desc.shape.begin()).first;
  const std::int64_t inner = element_count(Dims(axis + 1, shape.end()));
  for (std::int64_t i = 0; i < block_count(entry.desc); ++i) {
    const ElementRange range = block(entry.desc, i);
    const std::vector<double> numbers = recorded_numbers(file, entry, range);
    for (std::int64_t n = 0; n < range.count; ++n) {
      const auto bits = static_cast<std::int64_t>(numbers[static_cast<std::size_t>(n)]);
      const std::int64_t line = (range.first + n) / inner, column = (range.first + n) % inner;
      for (std::int64_t j = 0; j < kInt4InInt32; ++j) {
        to[(line * kInt4InInt32 + j) * inner + column] = low_four_bits(bits >> (4 * j));
      }
    }
  }
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

void read_recorded(DumpSource& file, const DumpEntry& entry, const TensorDesc& desc, void* to) {
  if (is_packed(entry, desc)) return unpack(file, entry, desc, static_cast<std::int8_t*>(to));
  const bool is_as_stored =
      entry.desc.dtype == desc.dtype && is_stored_as(entry.stored, desc.dtype);
  if (desc.format != desc.origin) std::memset(to, 0, desc.bytes());
  std::vector<std::byte> stored, converted;
  std::vector<double> values;
  for (std::int64_t i = 0; i < block_count(desc); ++i) {
    const ElementRange range = block(desc, i);
    const auto count = static_cast<std::size_t>(range.count);
    stored.resize(count * std::max(size_of(entry.stored), size_of(desc.dtype)));
    file.read(entry, range, stored.data());
    if (!is_as_stored) {
      values.resize(count);
      converted.resize(count * size_of(desc.dtype));
      values_to_doubles({entry.stored, entry.desc.dtype}, stored.data(), range.count,
                        values.data());
      from_doubles(desc.dtype, values.data(), range.count, converted.data());
    }
    write_elements(desc, to, range, is_as_stored ? stored.data() : converted.data());
  }
}

Tensor load_recorded(DumpSource& file, const DumpEntry& entry, const TensorDesc& desc) {
  Tensor tensor(desc);
  read_recorded(file, entry, desc, tensor.data());
  return tensor;
}

std::vector<double> recorded_numbers(DumpSource& file, const DumpEntry& entry, std::int64_t count) {
  return recorded_numbers(file, entry, ElementRange{0, count});
}

std::vector<double> recorded_numbers(DumpSource& file, const DumpEntry& entry) {
  return recorded_numbers(file, entry, entry.desc.elements());
}

}  // namespace opbench
