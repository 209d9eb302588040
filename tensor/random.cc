#include "tensor/random.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/random.cc"
#include <hwy/foreach_target.h>
// This header must follow foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F64 = hn::ScalableTag<double>;
using U64 = hn::ScalableTag<std::uint64_t>;

constexpr F64 kF64;
constexpr U64 kU64;

// Computes as many blocks as a vector has lanes, beginning with `first_block`: the 64 bits of the
// even elements go to even[0..], those of the odd elements to odd[0..].
#if HWY_TARGET == HWY_SCALAR
HWY_INLINE void philox_lanes(std::uint64_t seed, std::uint32_t stream, std::uint64_t first_block,
                             std::uint64_t* even, std::uint64_t* odd) {
  const auto words =
      philox4x32({static_cast<std::uint32_t>(first_block),
                  static_cast<std::uint32_t>(first_block >> 32), 0, stream},
                 {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  *even = words[0] | std::uint64_t{words[1]} << 32;
  *odd = words[2] | std::uint64_t{words[3]} << 32;
}
#else
// Four counter words in the lower halves of 64-bit lanes. The upper halves hold remains of the last
// product, which MulEven ignores.
HWY_INLINE void philox_lanes(std::uint64_t seed, std::uint32_t stream, std::uint64_t first_block,
                             std::uint64_t* even, std::uint64_t* odd) {
  const hn::Repartition<std::uint32_t, U64> u32;
  const auto lower = hn::Set(kU64, 0xFFFFFFFFull);
  auto x0 = hn::Iota(kU64, first_block), x1 = hn::ShiftRight<32>(x0);
  auto x2 = hn::Zero(kU64), x3 = hn::Set(kU64, std::uint64_t{stream});
  std::uint32_t key0 = static_cast<std::uint32_t>(seed);
  std::uint32_t key1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const auto p0 = hn::MulEven(hn::BitCast(u32, x0), hn::Set(u32, 0xD2511F53u));
    const auto p1 = hn::MulEven(hn::BitCast(u32, x2), hn::Set(u32, 0xCD9E8D57u));
    x0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p1), x1), hn::Set(kU64, std::uint64_t{key0}));
    x2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p0), x3), hn::Set(kU64, std::uint64_t{key1}));
    x1 = p1;
    x3 = p0;
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  hn::StoreU(hn::Or(hn::And(x0, lower), hn::ShiftLeft<32>(x1)), kU64, even);
  hn::StoreU(hn::Or(hn::And(x2, lower), hn::ShiftLeft<32>(x3)), kU64, odd);
}
#endif

// c[0] + x * (c[1] + x * ...)
template <class V, std::size_t kCount>
HWY_INLINE V polynomial(V x, const std::array<double, kCount>& c) {
  V result = hn::Set(kF64, c[kCount - 1]);
  for (std::size_t i = kCount - 1; i-- > 0;) {
    result = hn::Add(hn::Set(kF64, c[i]), hn::Mul(x, result));
  }
  return result;
}

// ln(x) for normal x > 0. With x = 2^k (1 + f), sqrt(1/2) < 1 + f < sqrt(2), s = f / (2 + f):
// ln(1 + f) = f - (f^2/2 - s * (f^2/2 + R(s^2))). Source: FreeBSD msun, e_log.c.
template <class V>
HWY_INLINE V natural_log(V x) {
  constexpr std::array<double, 7> kR = {6.666666666666735130e-01, 3.999999999940941908e-01,
                                        2.857142874366239149e-01, 2.222219843214978396e-01,
                                        1.818357216161805012e-01, 1.531383769920937332e-01,
                                        1.479819860511658591e-01};
  constexpr std::uint64_t kRootHalf = 0x3FE6A09E00000000,
                          kOne = 0x3FF0000000000000;  // sqrt(1/2), 1
  const auto bits = hn::Add(hn::BitCast(kU64, x), hn::Set(kU64, kOne - kRootHalf));
  // An integer below 2^52 becomes a double when its bits are the mantissa of 2^52.
  const auto biased = hn::Or(hn::ShiftRight<52>(bits), hn::Set(kU64, 0x4330000000000000ull));
  const V k = hn::Sub(hn::BitCast(kF64, biased), hn::Set(kF64, 0x1p52 + 1023));
  const auto mantissa = hn::And(bits, hn::Set(kU64, 0x000FFFFFFFFFFFFFull));
  const V f =
      hn::Sub(hn::BitCast(kF64, hn::Add(mantissa, hn::Set(kU64, kRootHalf))), hn::Set(kF64, 1.0));
  const V s = hn::Div(f, hn::Add(hn::Set(kF64, 2.0), f)), z = hn::Mul(s, s);
  const V half_square = hn::Mul(hn::Set(kF64, 0.5), hn::Mul(f, f));
  const V r = hn::Mul(z, polynomial(z, kR));
  const V low = hn::Mul(k, hn::Set(kF64, 1.90821492927058770002e-10));
  const V tail = hn::Sub(half_square, hn::Add(hn::Mul(s, hn::Add(half_square, r)), low));
  const V high = hn::Mul(k, hn::Set(kF64, 6.93147180369123816490e-01));
  return hn::Sub(high, hn::Sub(tail, f));
}

// sin(x), |x| <= pi/4. Source: FreeBSD msun, k_sin.c.
template <class V>
HWY_INLINE V small_sin(V x) {
  constexpr std::array<double, 6> kS = {-1.66666666666666324348e-01, 8.33333333332248946124e-03,
                                        -1.98412698298579493134e-04, 2.75573137070700676789e-06,
                                        -2.50507602534068634195e-08, 1.58969099521155010221e-10};
  const V z = hn::Mul(x, x);
  return hn::Add(x, hn::Mul(hn::Mul(z, x), polynomial(z, kS)));
}

// cos(x), |x| <= pi/4. Source: FreeBSD msun, k_cos.c.
template <class V>
HWY_INLINE V small_cos(V x) {
  constexpr std::array<double, 6> kC = {4.16666666666666019037e-02, -1.38888888888741095749e-03,
                                        2.48015872894767294178e-05, -2.75573143513906633035e-07,
                                        2.08757232129817482790e-09, -1.13596475577881948265e-11};
  const V one = hn::Set(kF64, 1.0), z = hn::Mul(x, x), half_z = hn::Mul(hn::Set(kF64, 0.5), z);
  const V w = hn::Sub(one, half_z);
  const V rest = hn::Mul(z, hn::Mul(z, polynomial(z, kC)));
  return hn::Add(w, hn::Add(hn::Sub(hn::Sub(one, w), half_z), rest));
}

// The upper 52 bits as a number in [1, 2).
template <class V>
HWY_INLINE auto one_to_two(V bits) {
  return hn::BitCast(kF64, hn::Or(hn::ShiftRight<12>(bits), hn::Set(kU64, 0x3FF0000000000000ull)));
}

// Normal values from the random bits of even and odd elements.
HWY_INLINE void box_muller(const std::uint64_t* even, const std::uint64_t* odd, double* cosines,
                           double* sines) {
  const auto u = hn::Sub(hn::Set(kF64, 2.0), one_to_two(hn::LoadU(kU64, even)));
  const auto radius = hn::Sqrt(hn::Mul(hn::Set(kF64, -2.0), natural_log(u)));
  const auto v = hn::Sub(one_to_two(hn::LoadU(kU64, odd)), hn::Set(kF64, 1.0));
  // 4 v = quadrant + x / (pi/2); adding 1.5 * 2^52 rounds and leaves the integer in the lowest
  // bits.
  const auto quarters = hn::Mul(v, hn::Set(kF64, 4.0)), magic = hn::Set(kF64, 0x1.8p52);
  const auto rounded = hn::Add(quarters, magic);
  const auto quadrant = hn::BitCast(kU64, rounded), one = hn::Set(kU64, std::uint64_t{1});
  const auto x =
      hn::Mul(hn::Sub(quarters, hn::Sub(rounded, magic)), hn::Set(kF64, 1.57079632679489661923));
  const auto sine = small_sin(x), cosine = small_cos(x);
  const auto odd_quadrant = hn::RebindMask(kF64, hn::TestBit(quadrant, one));
  const auto sign = hn::Set(kU64, std::uint64_t{1} << 63);
  // Negative in quadrants 2, 3 (sine) and 1, 2 (cosine).
  const auto sine_sign = hn::And(hn::ShiftLeft<62>(quadrant), sign);
  const auto cosine_sign = hn::And(hn::ShiftLeft<62>(hn::Add(quadrant, one)), sign);
  const auto c =
      hn::Xor(hn::IfThenElse(odd_quadrant, sine, cosine), hn::BitCast(kF64, cosine_sign));
  const auto s = hn::Xor(hn::IfThenElse(odd_quadrant, cosine, sine), hn::BitCast(kF64, sine_sign));
  hn::StoreU(hn::Mul(radius, c), kF64, cosines);
  hn::StoreU(hn::Mul(radius, s), kF64, sines);
}

// Computes a whole number of vectors; the last one may reach beyond `blocks`.
void philox_blocks(std::uint64_t seed, std::uint32_t stream, std::int64_t first_block,
                   std::int64_t blocks, std::uint64_t* even, std::uint64_t* odd) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(kU64));
  for (std::int64_t i = 0; i < blocks; i += lanes) {
    philox_lanes(seed, stream, static_cast<std::uint64_t>(first_block + i), even + i, odd + i);
  }
}

template <class T>
void interleave(const T* even, const T* odd, std::int64_t blocks, T* to) {
  for (std::int64_t i = 0; i < blocks; ++i) {
    to[2 * i] = even[i];
    to[2 * i + 1] = odd[i];
  }
}

constexpr std::size_t kSpace = kRandomBlocks + hn::MaxLanes(kU64);

void bits_of_blocks(std::uint64_t seed, std::uint32_t stream, std::int64_t first_block,
                    std::int64_t blocks, std::uint64_t* to) {
  std::uint64_t even[kSpace], odd[kSpace];
  philox_blocks(seed, stream, first_block, blocks, even, odd);
  interleave(even, odd, blocks, to);
}

void normals_of_blocks(std::uint64_t seed, std::uint32_t stream, std::int64_t first_block,
                       std::int64_t blocks, double* to) {
  std::uint64_t even[kSpace], odd[kSpace];
  philox_blocks(seed, stream, first_block, blocks, even, odd);
  double cosines[kSpace], sines[kSpace];
  for (std::int64_t i = 0; i < blocks; i += static_cast<std::int64_t>(hn::Lanes(kF64))) {
    box_muller(even + i, odd + i, cosines + i, sines + i);
  }
  interleave(cosines, sines, blocks, to);
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace opbench {
namespace {

HWY_EXPORT(bits_of_blocks);
HWY_EXPORT(normals_of_blocks);

constexpr std::uint32_t kStream = 0x7065726D;  // separates the keys from the streams of values

// The finaliser of MurmurHash3, keyed.
std::uint32_t scrambled(std::uint64_t value, std::uint32_t key) {
  std::uint32_t x = static_cast<std::uint32_t>(value) ^ key;
  x = (x ^ x >> 16) * 0x85EBCA6B;
  x = (x ^ x >> 13) * 0xC2B2AE35;
  return x ^ x >> 16;
}

}  // namespace

void random_bits(std::uint64_t seed, std::uint32_t stream, std::int64_t first_block,
                 std::int64_t blocks, std::uint64_t* to) {
  assert(blocks <= kRandomBlocks);
  HWY_DYNAMIC_DISPATCH(bits_of_blocks)(seed, stream, first_block, blocks, to);
}

void random_normals(std::uint64_t seed, std::uint32_t stream, std::int64_t first_block,
                    std::int64_t blocks, double* to) {
  assert(blocks <= kRandomBlocks);
  HWY_DYNAMIC_DISPATCH(normals_of_blocks)(seed, stream, first_block, blocks, to);
}

Permutation::Permutation(std::uint64_t seed, std::int64_t count)
    : count_(static_cast<std::uint64_t>(std::max<std::int64_t>(count, 1))) {
  const int bits = static_cast<int>(std::bit_width(count_ - 1));
  low_bits_ = bits - bits / 2;
  high_bits_ = bits / 2;
  for (std::uint32_t block = 0; block < kRounds / 4; ++block) {
    const auto words = philox4x32({block, 0, 0, kStream}, {static_cast<std::uint32_t>(seed),
                                                           static_cast<std::uint32_t>(seed >> 32)});
    std::copy(words.begin(), words.end(), keys_.begin() + 4 * block);
  }
}

std::uint64_t Permutation::network(std::uint64_t value) const {
  const std::uint64_t low_mask = (std::uint64_t{1} << low_bits_) - 1;
  const std::uint64_t high_mask = (std::uint64_t{1} << high_bits_) - 1;
  std::uint64_t low = value & low_mask, high = value >> low_bits_;
  for (std::size_t round = 0; round < kRounds; round += 2) {
    low ^= scrambled(high, keys_[round]) & low_mask;
    high ^= scrambled(low, keys_[round + 1]) & high_mask;
  }
  return high << low_bits_ | low;
}

void Permutation::entries(std::int64_t first, std::span<double> to) const {
  for (std::size_t i = 0; i < to.size(); ++i) {
    std::uint64_t value = network(static_cast<std::uint64_t>(first) + i);
    while (value >= count_) value = network(value);
    to[i] = static_cast<double>(static_cast<std::int64_t>(value));
  }
}

}  // namespace opbench

#endif  // HWY_ONCE
