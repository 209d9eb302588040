#include "tensor/fill.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "tensor/element_map.h"
#include "tensor/error.h"
#include "tensor/parallel.h"
#include "tensor/random.h"

namespace opbench {
namespace {

constexpr std::int64_t kChunk = 2 * kRandomBlocks;  // elements

std::uint32_t stream_of(DistributionKind kind) { return static_cast<std::uint32_t>(kind) + 1; }

/// A part of the elements of a stream on their way to memory; `first` counts from the start of the
/// stream.
struct Piece {
  std::uint64_t seed;
  std::int64_t first;
  std::span<double> values;

  std::int64_t first_block() const { return first / 2; }
  std::int64_t blocks() const { return (first + std::ssize(values) + 1) / 2 - first_block(); }
};

void normals(const Distribution& d, const Piece& piece) {
  double values[kChunk];
  random_normals(piece.seed, stream_of(d.kind), piece.first_block(), piece.blocks(), values);
  const double* const from = values + piece.first % 2;
  for (std::size_t i = 0; i < piece.values.size(); ++i) piece.values[i] = d.a + d.b * from[i];
}

template <class FromBits>
void from_random_bits(const Distribution& d, const Piece& piece, FromBits from_bits) {
  std::uint64_t bits[kChunk];
  random_bits(piece.seed, stream_of(d.kind), piece.first_block(), piece.blocks(), bits);
  const std::uint64_t* const from = bits + piece.first % 2;
  for (std::size_t i = 0; i < piece.values.size(); ++i) piece.values[i] = from_bits(from[i]);
}

void uniforms(const Distribution& d, const Piece& piece) {
  const double width = d.b - d.a;
  const double last = std::nextafter(d.b, d.a);  // instead of a value that rounds to b
  from_random_bits(d, piece, [&](std::uint64_t bits) {
    return std::min(
        d.a + width * (static_cast<double>(static_cast<std::int64_t>(bits >> 11)) * 0x1p-53), last);
  });
}

// floor(bits / 2^64 * count), computed as the upper half of a 128-bit product.
void integers(const Distribution& d, const Piece& piece) {
  const auto low = static_cast<std::int64_t>(std::ceil(d.a));
  const auto count =
      static_cast<std::uint64_t>(static_cast<std::int64_t>(std::floor(d.b)) - low + 1);
  from_random_bits(d, piece, [&](std::uint64_t bits) {
    const auto product = static_cast<unsigned __int128>(bits) * count;
    return static_cast<double>(low + static_cast<std::int64_t>(product >> 64));
  });
}

// Four elements per box: the nearer corner up to 3/4 of the extent, then sides from 1 to 1 +
// extent/4. A box takes two blocks of the generator, so any cut of the stream gives the same boxes.
void boxes(const Distribution& d, const Piece& piece) {
  for (std::size_t i = 0; i < piece.values.size(); ++i) {
    const std::int64_t element = piece.first + static_cast<std::int64_t>(i);
    const std::int64_t box = element / 4, part = element % 4;
    std::uint64_t bits[4];
    random_bits(piece.seed, stream_of(d.kind), 2 * box, 2, bits);
    const auto unit = [&](std::int64_t k) { return static_cast<double>(bits[k] >> 11) * 0x1p-53; };
    const double corner = 0.75 * (d.a - 4) * unit(part % 2);
    piece.values[i] = part < 2 ? corner : corner + 1 + d.a / 4 * unit(part);
  }
}

std::vector<double> floating_specials(DType dtype) {
  const double max = largest_finite(dtype), normal = smallest_normal(dtype);
  const double least = smallest_unit(dtype);
  const double inf = std::numeric_limits<double>::infinity();
  return {std::numeric_limits<double>::quiet_NaN(),
          inf,
          -inf,
          0.0,
          -0.0,
          least,
          -least,
          normal - least,
          least - normal,
          normal,
          -normal,
          max,
          -max,
          1,
          -1,
          1 + epsilon_of(dtype)};
}

template <class T>
std::vector<double> integer_specials() {
  using Limits = std::numeric_limits<T>;
  return {0, 1, static_cast<double>(Limits::max()), static_cast<double>(Limits::min()), -1};
}

std::vector<double> specials(DType dtype) {
  switch (dtype) {
    case DType::fp64:
    case DType::fp32:
    case DType::fp16:
    case DType::bf16:
    case DType::fp8_e4m3fn:
    case DType::fp8_e5m2:
    case DType::hif8:
    case DType::e8m0:
      return floating_specials(dtype);
    case DType::int64:
      return integer_specials<std::int64_t>();
    case DType::int32:
      return integer_specials<std::int32_t>();
    case DType::int16:
      return integer_specials<std::int16_t>();
    case DType::int8:
      return integer_specials<std::int8_t>();
    case DType::uint8:
      return integer_specials<std::uint8_t>();
    case DType::boolean:
      return {0, 1};
    case DType::int4:
      return {0, 1, 7, -8, -1};
  }
  return {0};
}

/// The values that all pieces of a range share.
struct Source {
  const Distribution& distribution;
  std::int64_t total;
  Permutation permutation;
  std::vector<double> specials;

  void make(const Piece& piece) const {
    const Distribution& d = distribution;
    switch (d.kind) {
      case DistributionKind::normal:
        return normals(d, piece);
      case DistributionKind::uniform:
        return uniforms(d, piece);
      case DistributionKind::integers:
        return integers(d, piece);
      case DistributionKind::permutation:
        return permutation.entries(piece.first, piece.values);
      case DistributionKind::boxes:
        return boxes(d, piece);
      default:
        for (std::size_t i = 0; i < piece.values.size(); ++i) {
          piece.values[i] = at(piece.first + static_cast<std::int64_t>(i));
        }
    }
  }

  // Elements beyond the last whole multiple of the groups stay in place.
  double shuffled(std::int64_t index) const {
    const auto groups = static_cast<std::int64_t>(distribution.a);
    const std::int64_t per_group = total / groups;
    if (index >= per_group * groups) return static_cast<double>(index);
    return static_cast<double>(index % groups * per_group + index / groups);
  }

  double at(std::int64_t index) const {
    switch (distribution.kind) {
      case DistributionKind::arange:
        return distribution.a + distribution.b * static_cast<double>(index);
      case DistributionKind::special:
        return specials[static_cast<std::size_t>(index) % specials.size()];
      case DistributionKind::shuffle:
        return shuffled(index);
      default:
        return distribution.a;
    }
  }
};

}  // namespace

void generate(const Distribution& distribution, std::uint64_t seed, DType dtype, std::int64_t total,
              ElementRange range, void* to) {
  require_valid(distribution);
  const Source source{
      distribution, total, Permutation(seed, total),
      distribution.kind == DistributionKind::special ? specials(dtype) : std::vector<double>{}};
  double values[kChunk];
  auto out = static_cast<std::byte*>(to);
  const std::int64_t end = range.first + range.count;
  for (std::int64_t first = range.first; first < end;) {
    // Pieces end at multiples of the chunk: a piece never needs more blocks than the chunk has.
    const std::int64_t count = std::min(end, (first / kChunk + 1) * kChunk) - first;
    source.make({seed, first, std::span(values, static_cast<std::size_t>(count))});
    from_doubles(dtype, values, count, out);
    out += static_cast<std::size_t>(count) * size_of(dtype);
    first += count;
  }
}

void fill(Tensor& tensor, const Distribution& distribution, std::uint64_t seed) {
  fill(tensor.desc, tensor.data(), distribution, seed);
}

void fill(const TensorDesc& desc, void* storage, const Distribution& distribution,
          std::uint64_t seed) {
  const std::int64_t total = desc.elements();
  const bool row_major = is_row_major(desc);
  require_valid(distribution);
  if (has_padding(desc)) fill_bytes(storage, 0, desc.bytes());
  parallel_blocks(block_count(desc), [&](std::int64_t index) {
    const ElementRange range = block(desc, index);
    if (row_major) {
      return generate(distribution, seed, desc.dtype, total, range,
                      at(storage, desc.dtype, range.first));
    }
    thread_local std::vector<std::byte> values;
    const std::size_t bytes = static_cast<std::size_t>(range.count) * size_of(desc.dtype);
    values.resize(std::max(values.size(), bytes));
    generate(distribution, seed, desc.dtype, total, range, values.data());
    write_elements(desc, storage, range, values.data());
  });
}

}  // namespace opbench
