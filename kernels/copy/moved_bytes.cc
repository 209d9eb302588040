#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/copy/moved_bytes.cc"
#include "kernels/copy/moved_bytes.h"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "tensor/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Bytes = hn::ScalableTag<std::uint8_t>;
using Vector = hn::Vec<Bytes>;

constexpr std::int64_t kUnroll = 4;  // vectors

template <bool kStream>
HWY_INLINE void put(Vector value, std::uint8_t* to) {
  if constexpr (kStream)
    hn::Stream(value, Bytes(), to);
  else
    hn::Store(value, Bytes(), to);
}

// All sizes and addresses are multiples of the step.
std::int64_t step() { return kUnroll * static_cast<std::int64_t>(hn::Lanes(Bytes())); }

// Every vector read is combined into one of four sums, so that the compiler cannot remove a load.
void read_vectors(const std::uint8_t* from, std::int64_t count, Vector (&sums)[kUnroll]) {
  const Bytes d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < count; i += kUnroll * lanes) {
    for (std::int64_t k = 0; k < kUnroll; ++k) {
      sums[k] = hn::Xor(sums[k], hn::Load(d, from + i + k * lanes));
    }
  }
}

template <bool kStream>
void write_vectors(const Vector (&sums)[kUnroll], std::uint8_t* to, std::int64_t count) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Bytes()));
  for (std::int64_t i = 0; i < count; i += kUnroll * lanes) {
    for (std::int64_t k = 0; k < kUnroll; ++k) put<kStream>(sums[k], to + i + k * lanes);
  }
}

// Operators of several inputs: `kInputs` streams of `count` bytes, `stride` bytes apart in `from`,
// become one. With one input this is a copy.
template <int kInputs, bool kStream>
void join(const std::uint8_t* from, std::int64_t stride, std::uint8_t* to, std::int64_t count) {
  const Bytes d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < count; i += kUnroll * lanes) {
    Vector values[kUnroll];
    for (std::int64_t k = 0; k < kUnroll; ++k) {
      values[k] = hn::Load(d, from + i + k * lanes);
      for (std::int64_t input = 1; input < kInputs; ++input) {
        values[k] = hn::Xor(values[k], hn::Load(d, from + input * stride + i + k * lanes));
      }
    }
    for (std::int64_t k = 0; k < kUnroll; ++k) put<kStream>(values[k], to + i + k * lanes);
  }
}

// Alternates after each page of the larger side.
template <bool kStream>
void mix(const std::uint8_t* from, std::int64_t reads, std::uint8_t* to, std::int64_t writes) {
  constexpr std::int64_t kPage = 4096;  // bytes
  const std::int64_t turns = std::max<std::int64_t>(1, std::max(reads, writes) / kPage);
  const Bytes d;
  Vector sums[kUnroll] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  const auto part = [&](std::int64_t bytes, std::int64_t turn) {
    return turn == turns ? bytes : bytes / turns * turn / step() * step();
  };
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    const std::int64_t first_read = part(reads, turn), first_write = part(writes, turn);
    read_vectors(from + first_read, part(reads, turn + 1) - first_read, sums);
    write_vectors<kStream>(sums, to + first_write, part(writes, turn + 1) - first_write);
  }
  // Without writes, the combined loads go to a place that the compiler must keep.
  const Vector all = hn::Xor(hn::Xor(sums[0], sums[1]), hn::Xor(sums[2], sums[3]));
  [[maybe_unused]] volatile std::uint8_t kept = hn::GetLane(all);
}

}  // namespace

void join_on_target(int inputs, const std::uint8_t* from, std::int64_t stride, std::uint8_t* to,
                    std::int64_t count, bool stream) {
  if (inputs == 1) return (stream ? join<1, true> : join<1, false>)(from, stride, to, count);
  if (inputs == 2) return (stream ? join<2, true> : join<2, false>)(from, stride, to, count);
  (stream ? join<3, true> : join<3, false>)(from, stride, to, count);
}

void mix_on_target(const std::uint8_t* from, std::int64_t reads, std::uint8_t* to,
                   std::int64_t writes, bool stream) {
  if (stream) return mix<true>(from, reads, to, writes);
  mix<false>(from, reads, to, writes);
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(join_on_target);
HWY_EXPORT(mix_on_target);

// A multiple of every target's step: four vectors of up to 64 bytes.
constexpr std::int64_t kUnit = 256;
constexpr std::int64_t kPage = 4096;  // bytes

std::int64_t whole_units(std::size_t bytes) {
  return static_cast<std::int64_t>(bytes) / kUnit * kUnit;
}

bool is_streamed(MovingWay way) {
  return way == MovingWay::streams || way == MovingWay::mixed_stream;
}

void copy_range(MovingWay way, const std::uint8_t* from, std::uint8_t* to, std::size_t count) {
  const std::int64_t in_vectors = way == MovingWay::memcpy ? 0 : whole_units(count);
  if (in_vectors > 0) {
    HWY_DYNAMIC_DISPATCH(join_on_target)(1, from, 0, to, in_vectors, is_streamed(way));
  }
  std::memcpy(to + in_vectors, from + in_vectors, count - static_cast<std::size_t>(in_vectors));
}

std::size_t copy_halves(MovingWay way, std::uint8_t* memory, std::size_t bytes) {
  // The second half begins at a multiple of a vector.
  const std::size_t half = bytes < 128 ? bytes / 2 : bytes / 2 / 64 * 64;
  parallel_ranges(static_cast<std::int64_t>(half), kPage,
                  [&](std::int64_t begin, std::int64_t end) {
                    copy_range(way, memory + begin, memory + half + begin,
                               static_cast<std::size_t>(end - begin));
                    if (is_streamed(way)) hwy::FlushStream();
                  });
  return 2 * half;
}

// 2 or 3 if that many inputs of the output's size are read, else 0.
int inputs_of(std::int64_t reads, std::int64_t writes) {
  for (const int inputs : {2, 3}) {
    const std::int64_t off = std::abs(reads - inputs * writes);
    if (writes >= kPage && 50 * off <= writes) return inputs;
  }
  return 0;
}

std::size_t join_inputs(int inputs, MovingWay way, const MovedBytes& bytes, std::uint8_t* memory) {
  const std::int64_t count = std::min(whole_units(bytes.written),
                                      whole_units(bytes.read / static_cast<std::size_t>(inputs)));
  parallel_ranges(count, kPage, [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(join_on_target)
    (inputs, memory + begin, count, memory + inputs * count + begin, end - begin, is_streamed(way));
    if (is_streamed(way)) hwy::FlushStream();
  });
  return static_cast<std::size_t>((inputs + 1) * count);
}

// Each thread takes an equal share of the reads and of the writes.
std::size_t mix_parts(MovingWay way, const MovedBytes& bytes, std::uint8_t* memory) {
  const std::int64_t reads = whole_units(bytes.read);
  const std::int64_t writes = whole_units(bytes.written);
  if (const int inputs = inputs_of(reads, writes); inputs > 0) {
    return join_inputs(inputs, way, bytes, memory);
  }
  const std::int64_t larger = std::max(reads, writes);
  if (larger == 0) return copy_halves(MovingWay::memcpy, memory, bytes.read + bytes.written);
  const auto part = [&](std::int64_t whole, std::int64_t at) {
    return at == larger
               ? whole
               : static_cast<std::int64_t>(static_cast<double>(whole) * static_cast<double>(at) /
                                           static_cast<double>(larger)) /
                     kUnit * kUnit;
  };
  parallel_ranges(larger, kPage, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t first_read = part(reads, begin), first_write = part(writes, begin);
    HWY_DYNAMIC_DISPATCH(mix_on_target)
    (memory + first_read, part(reads, end) - first_read, memory + reads + first_write,
     part(writes, end) - first_write, is_streamed(way));
    if (is_streamed(way)) hwy::FlushStream();
  });
  return static_cast<std::size_t>(reads + writes);
}

}  // namespace

std::string_view name(MovingWay way) {
  switch (way) {
    case MovingWay::memcpy:
      return "memcpy";
    case MovingWay::stores:
      return "vector copy";
    case MovingWay::streams:
      return "streamed copy";
    case MovingWay::mixed:
      return "mixed";
    case MovingWay::mixed_stream:
      return "mixed, streamed";
  }
  return {};
}

std::size_t move_bytes(MovingWay way, const MovedBytes& bytes) {
  auto* const memory = reinterpret_cast<std::uint8_t*>(bytes.memory);
  if (way == MovingWay::mixed || way == MovingWay::mixed_stream) {
    return mix_parts(way, bytes, memory);
  }
  return copy_halves(way, memory, bytes.read + bytes.written);
}

}  // namespace opbench
#endif  // HWY_ONCE
