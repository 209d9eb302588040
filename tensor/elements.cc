#include "tensor/elements.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "tensor/byte_float.h"
#include "tensor/element_map.h"
#include "tensor/half.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kPlainBlock = 32 * 1024;  // elements; 128 KiB of fp32
constexpr std::int64_t kLargestPlainBlock = 8 * kPlainBlock;

/// NC1HWC0 as [n, c1, pixels, c0].
struct Slabs {
  std::int64_t n, c, c1, pixels;
  int c0;

  explicit Slabs(const TensorDesc& desc) : c0(desc.c0) {
    const Dims nchw = expand_to_nchw(desc.shape);
    n = nchw[0];
    c = nchw[1];
    c1 = (c + c0 - 1) / c0;
    pixels = nchw[2] * nchw[3];
  }
  std::int64_t lanes(std::int64_t c1_index) const {
    return std::min<std::int64_t>(c0, c - c1_index * c0);
  }
};

bool has_slabs(const TensorDesc& desc) {
  return desc.format == Format::NC1HWC0 && !is_row_major(desc);
}

/// Elements of a block of a format other than NC1HWC0: whole lanes of all channels of a cut block,
/// up to a limit. Fewer lanes would fetch an interleaved storage once for each lane.
std::int64_t block_elements(const TensorDesc& desc) {
  if (is_row_major(desc)) return kPlainBlock;
  const std::int64_t preferred = preferred_range(element_map(desc));
  if (preferred > kLargestPlainBlock) return kPlainBlock;
  return std::max<std::int64_t>(1, kPlainBlock / preferred) * preferred;
}

/// The slabs of an NC1HWC0 tensor. They need less preparation than a map: some tensors are tiny.
void for_each_slab_part(const TensorDesc& desc, ElementRange range,
                        const std::function<void(const ElementRectangle&)>& visit) {
  const Slabs slabs(desc);
  for (std::int64_t done = 0; done < range.count;) {
    const std::int64_t channel = (range.first + done) / slabs.pixels;
    const std::int64_t pixel = (range.first + done) % slabs.pixels;
    const std::int64_t n = channel / slabs.c, c = channel % slabs.c;
    const std::int64_t c1 = c / slabs.c0, lane = c % slabs.c0;
    const std::int64_t left = range.count - done;
    ElementRectangle part{.stored = ((n * slabs.c1 + c1) * slabs.pixels + pixel) * slabs.c0 + lane,
                          .logical = done,
                          .pixels = std::min(left, slabs.pixels - pixel),
                          .lane_stride = 1,
                          .pixel_stride = slabs.c0,
                          .logical_stride = slabs.pixels};
    if (part.pixels == slabs.pixels) {
      part.lanes = std::min(left / slabs.pixels, slabs.lanes(c1) - lane);
    }
    visit(part);
    done += part.lanes * part.pixels;
  }
}

void for_each_part(const TensorDesc& desc, ElementRange range,
                   const std::function<void(const ElementRectangle&)>& visit) {
  if (has_slabs(desc)) return for_each_slab_part(desc, range, visit);
  for_each_rectangle(element_map(desc), range, visit);
}

[[maybe_unused]] bool is_inside(const TensorDesc& desc, ElementRange range) {
  return range.first >= 0 && range.count >= 0 && range.first <= desc.elements() - range.count;
}

constexpr std::int64_t kChunk = 512;  // elements on the stack

template <class T>
void widen_to_doubles(const T* from, std::int64_t count, double* to) {
  float chunk[kChunk];
  for (std::int64_t i = 0; i < count; i += kChunk) {
    const std::int64_t n = std::min(kChunk, count - i);
    widen(from + i, chunk, static_cast<std::size_t>(n));
    std::copy(chunk, chunk + n, to + i);
  }
}

template <class T>
void narrow_from_doubles(const double* from, std::int64_t count, T* to) {
  float chunk[kChunk];
  for (std::int64_t i = 0; i < count; i += kChunk) {
    const std::int64_t n = std::min(kChunk, count - i);
    std::transform(from + i, from + i + n, chunk, rounded_to_odd);
    narrow(chunk, to + i, static_cast<std::size_t>(n));
  }
}

void widen_bytes(const ByteFloat& format, const void* from, std::int64_t count, double* to) {
  const auto* codes = static_cast<const std::uint8_t*>(from);
  std::transform(codes, codes + count, to, [&](std::uint8_t code) { return format.values[code]; });
}

void narrow_to_bytes(const ByteFloat& format, const double* from, std::int64_t count, void* to) {
  std::transform(from, from + count, static_cast<std::uint8_t*>(to),
                 [&](double value) { return format.code(rounded_to_odd(value)); });
}

template <class T>
T clamped(double value) {
  // max() + 1 is a power of two, so it is exact in fp64; max() itself may not be.
  constexpr double kEnd = 2.0 * static_cast<double>(std::numeric_limits<T>::max() / 2 + 1);
  if (std::isnan(value)) return 0;
  if (value >= kEnd) return std::numeric_limits<T>::max();
  if (value <= static_cast<double>(std::numeric_limits<T>::min())) {
    return std::numeric_limits<T>::min();
  }
  return static_cast<T>(value);
}

template <class T>
void clamp_from_doubles(const double* from, std::int64_t count, void* to) {
  std::transform(from, from + count, static_cast<T*>(to), clamped<T>);
}

}  // namespace

std::int64_t block_count(const TensorDesc& desc) {
  desc.storage_elements();  // throws if the shape does not fit its format
  if (desc.elements() == 0) return 0;
  if (!has_slabs(desc)) return (desc.elements() - 1) / block_elements(desc) + 1;
  const Slabs slabs(desc);
  return slabs.n * slabs.c1;
}

ElementRange block(const TensorDesc& desc, std::int64_t index) {
  assert(0 <= index && index < block_count(desc));
  if (!has_slabs(desc)) {
    const std::int64_t size = block_elements(desc), first = index * size;
    return {first, std::min(size, desc.elements() - first)};
  }
  const Slabs slabs(desc);
  const std::int64_t n = index / slabs.c1, c1 = index % slabs.c1;
  return {(n * slabs.c + c1 * slabs.c0) * slabs.pixels, slabs.lanes(c1) * slabs.pixels};
}

std::int64_t largest_block(const TensorDesc& desc) {
  return block_count(desc) == 0 ? 0 : block(desc, 0).count;
}

void read_elements(const TensorDesc& desc, const void* storage, ElementRange range, void* to) {
  assert(is_inside(desc, range));
  const std::size_t bytes = size_of(desc.dtype);
  if (is_row_major(desc)) {
    const auto first = static_cast<std::size_t>(range.first);
    std::copy_n(static_cast<const std::byte*>(storage) + first * bytes,
                static_cast<std::size_t>(range.count) * bytes, static_cast<std::byte*>(to));
    return;
  }
  for_each_part(desc, range,
                [&](const ElementRectangle& part) { read_rectangle(part, storage, to, bytes); });
}

void write_elements(const TensorDesc& desc, void* storage, ElementRange range, const void* from) {
  assert(is_inside(desc, range));
  const std::size_t bytes = size_of(desc.dtype);
  if (is_row_major(desc)) {
    const auto first = static_cast<std::size_t>(range.first);
    std::copy_n(static_cast<const std::byte*>(from), static_cast<std::size_t>(range.count) * bytes,
                static_cast<std::byte*>(storage) + first * bytes);
    return;
  }
  for_each_part(desc, range,
                [&](const ElementRectangle& part) { write_rectangle(part, from, storage, bytes); });
}

void read_doubles(const TensorDesc& desc, const void* storage, ElementRange range,
                  std::span<double> to) {
  assert(std::ssize(to) >= range.count);
  const auto bytes = static_cast<std::int64_t>(size_of(desc.dtype));
  if (is_row_major(desc)) {
    const auto from = static_cast<const std::byte*>(storage) + range.first * bytes;
    return to_doubles(desc.dtype, from, range.count, to.data());
  }
  thread_local std::vector<std::byte> scratch;
  scratch.resize(std::max(scratch.size(), static_cast<std::size_t>(range.count * bytes)));
  read_elements(desc, storage, range, scratch.data());
  to_doubles(desc.dtype, scratch.data(), range.count, to.data());
}

void to_doubles(DType dtype, const void* from, std::int64_t count, double* to) {
  const auto copy = [&]<class T>(T) {
    const T* const typed = static_cast<const T*>(from);
    for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<double>(typed[i]);
  };
  switch (dtype) {
    case DType::fp64:
      return copy(double{});
    case DType::fp32:
      return copy(float{});
    case DType::fp16:
      return widen_to_doubles(static_cast<const half*>(from), count, to);
    case DType::bf16:
      return widen_to_doubles(static_cast<const bfloat16*>(from), count, to);
    case DType::int64:
      return copy(std::int64_t{});
    case DType::int32:
      return copy(std::int32_t{});
    case DType::int16:
      return copy(std::int16_t{});
    case DType::int8:
    case DType::int4:
      return copy(std::int8_t{});
    case DType::uint8:
    case DType::boolean:
      return copy(std::uint8_t{});
    case DType::fp8_e4m3fn:
    case DType::fp8_e5m2:
    case DType::hif8:
    case DType::e8m0:
      return widen_bytes(byte_float(dtype), from, count, to);
  }
}

void from_doubles(DType dtype, const double* from, std::int64_t count, void* to) {
  switch (dtype) {
    case DType::fp64:
      std::copy_n(from, count, static_cast<double*>(to));
      return;
    case DType::fp32:
      std::transform(from, from + count, static_cast<float*>(to),
                     [](double v) { return static_cast<float>(v); });
      return;
    case DType::fp16:
      return narrow_from_doubles(from, count, static_cast<half*>(to));
    case DType::bf16:
      return narrow_from_doubles(from, count, static_cast<bfloat16*>(to));
    case DType::int64:
      return clamp_from_doubles<std::int64_t>(from, count, to);
    case DType::int32:
      return clamp_from_doubles<std::int32_t>(from, count, to);
    case DType::int16:
      return clamp_from_doubles<std::int16_t>(from, count, to);
    case DType::int8:
      return clamp_from_doubles<std::int8_t>(from, count, to);
    case DType::uint8:
      return clamp_from_doubles<std::uint8_t>(from, count, to);
    case DType::boolean:
      std::transform(from, from + count, static_cast<std::uint8_t*>(to),
                     [](double v) { return static_cast<std::uint8_t>(v >= 1); });
      return;
    case DType::fp8_e4m3fn:
    case DType::fp8_e5m2:
    case DType::hif8:
    case DType::e8m0:
      return narrow_to_bytes(byte_float(dtype), from, count, to);
    case DType::int4:
      std::transform(from, from + count, static_cast<std::int8_t*>(to), [](double v) {
        return std::clamp<std::int8_t>(clamped<std::int8_t>(v), -8, 7);
      });
      return;
  }
}

Buffer changed_copy(const TensorDesc& desc, const void* storage,
                    const std::function<double(std::int64_t place, double value)>& change) {
  Buffer copy(static_cast<std::size_t>(desc.storage_elements()) * size_of(desc.dtype));
  parallel_blocks(block_count(desc), [&](std::int64_t i) {
    const ElementRange range = block(desc, i);
    thread_local std::vector<double> values;
    thread_local std::vector<std::byte> rounded;
    values.resize(static_cast<std::size_t>(range.count));
    rounded.resize(values.size() * size_of(desc.dtype));
    read_doubles(desc, storage, range, values);
    for (std::size_t k = 0; k < values.size(); ++k) {
      values[k] = change(range.first + static_cast<std::int64_t>(k), values[k]);
    }
    from_doubles(desc.dtype, values.data(), range.count, rounded.data());
    write_elements(desc, copy.data(), range, rounded.data());
  });
  return copy;
}

}  // namespace opbench
