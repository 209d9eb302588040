#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce_all.cc"
#include "kernels/reduce_all.h"

#include <hwy/foreach_target.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/lanes/dtypes.h"
#include "kernels/lanes/elementwise.h"
#include "kernels/lanes/simd-inl.h"
#include "tensor/elements.h"
#include "tensor/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

// Lanes of the sum, whatever the vector width: element i is added to lane i % 64 in order, so every
// instruction set and thread count gives the same bits. 64 = four AVX-512 registers, enough to hide
// the latency of add.
constexpr std::size_t kLanes = 64;

// lanes[i % 64] += scale * x[i]
template <class T>
void add_to_lanes(const T* x, std::size_t count, float scale, float* lanes) {
  const F32 d;
  const std::size_t width = std::min(hn::Lanes(d), kLanes);
  const VF32 factor = hn::Set(d, scale);
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t k = 0; k < kLanes; k += width) {
      const VF32 sum = hn::Load(d, lanes + k);
      hn::Store(hn::Add(sum, hn::Mul(load(x + i + k), factor)), d, lanes + k);
    }
  }
  for (; i < count; ++i) lanes[i % kLanes] += float(x[i]) * scale;
}

}  // namespace

void sum_lanes(DType dtype, const void* x, std::size_t count, float scale, float* lanes) {
  visit_arithmetic(dtype, [&](auto tag) {
    add_to_lanes(static_cast<const decltype(tag)*>(x), count, scale, lanes);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(sum_lanes);
constexpr std::size_t kSumLanes = 64;

// Stored elements that are summed together, and how many of every c0 of them are real; the rest is
// padding.
struct Slab {
  std::int64_t first, count, valid;
};

// The storage cut at the same places for every thread count: (n, c1) slabs of NC1HWC0, 32 Ki
// elements otherwise.
struct Slabs {
  std::int64_t count = 0, size = 0, elements = 0, c1 = 1, channels = 0;
  std::int64_t c0 = 1;

  explicit Slabs(const TensorDesc& desc) : elements(desc.storage_elements()) {
    if (desc.format == Format::NC1HWC0) {
      const Dims storage = desc.storage();  // N, C1, H, W, C0
      c1 = storage[1];
      c0 = storage[4];
      channels = expand_to_nchw(desc.shape)[1];
      size = storage[2] * storage[3] * c0;
      count = size == 0 ? 0 : storage[0] * c1;
    } else {
      size = 32768;
      count = (elements + size - 1) / size;
    }
  }

  Slab operator[](std::int64_t i) const {
    const std::int64_t first = i * size;
    const std::int64_t valid = c0 == 1 ? 1 : std::min(c0, channels - i % c1 * c0);
    return {first, std::min(size, elements - first), valid};
  }
};

double add_valid(const float* lanes, const Slabs& slabs, const Slab& slab) {
  double sum = 0;
  for (std::size_t i = 0; i < kSumLanes; ++i) {
    if (static_cast<std::int64_t>(i) % slabs.c0 < slab.valid) sum += double(lanes[i]);
  }
  return sum;
}

// sum(scale * x), slabs in fp32 lanes, joined in fp64 in their order.
double sum_scaled(const void* x, DType dtype, const Slabs& slabs, float scale,
                  std::vector<double>& partial) {
  parallel_blocks(slabs.count, [&](std::int64_t i) {
    const Slab slab = slabs[i];
    alignas(64) float lanes[kSumLanes] = {};
    HWY_DYNAMIC_DISPATCH(sum_lanes)
    (dtype, at(x, dtype, slab.first), static_cast<std::size_t>(slab.count), scale, lanes);
    partial[static_cast<std::size_t>(i)] = add_valid(lanes, slabs, slab);
  });
  double sum = 0;
  for (const double value : partial) sum += value;
  return sum;
}

}  // namespace

Launch reduce_all(const Problem& problem, float scale, double divisor) {
  const Slabs slabs(problem.inputs[0]);
  return [dtype = problem.inputs[0].dtype, slabs, scale, divisor,
          partial = std::vector<double>(static_cast<std::size_t>(slabs.count))](
             const KernelArgs& args) mutable {
    const double result = sum_scaled(args.inputs[0], dtype, slabs, scale, partial) / divisor;
    from_doubles(dtype, &result, 1, args.outputs[0]);
  };
}

namespace {

// The bits of one element `count` times. Of bits, not of Eigen's half, whose copies are not
// vectorised.
template <class Bits>
void repeat(const void* element, std::int64_t count, void* to) {
  Bits bits;
  std::memcpy(&bits, element, sizeof(bits));
  std::fill_n(static_cast<Bits*>(to), count, bits);
}

}  // namespace

Launch expand_to_all(const Problem& problem, double divisor) {
  return [dtype = problem.inputs[0].dtype, divisor,
          elements = stored_elements(problem)](const KernelArgs& args) {
    double value = 0;
    to_doubles(dtype, args.inputs[0], 1, &value);
    value /= divisor;
    float element = 0;  // or a shorter type in its first bytes
    from_doubles(dtype, &value, 1, &element);
    const auto fill = size_of(dtype) == 2 ? repeat<std::uint16_t> : repeat<std::uint32_t>;
    for_each_range(elements, [&](std::int64_t begin, std::int64_t end) {
      fill(&element, end - begin, at(args.outputs[0], dtype, begin));
    });
  };
}

}  // namespace opbench
#endif  // HWY_ONCE
