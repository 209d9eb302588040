#include "kernels/reduce_all.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/copy/repeat.h"
#include "kernels/simd/elementwise.h"
#include "kernels/simd/row_sums.h"
#include "tensor/elements.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

// Stored elements that are summed together, and the number of real elements in every c0; the rest
// is padding.
struct Slab {
  std::int64_t first, count, valid;
};

// The storage cut at fixed places for every thread count: (n, c1) slabs of NC1HWC0, 32 Ki elements
// otherwise.
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
  constexpr auto kAll = static_cast<std::int64_t>(kSumLanes);
  double sum = 0;
  for (std::int64_t first = 0; first < kAll; first += slabs.c0) {
    for (std::int64_t i = 0; i < slab.valid; ++i) sum += double(lanes[first + i]);
  }
  return sum;
}

// sum(scale * x): slabs in fp32 lanes, joined in fp64 in their order.
double sum_scaled(const void* x, DType dtype, const Slabs& slabs, float scale,
                  std::vector<double>& partial) {
  parallel_blocks(slabs.count, [&](std::int64_t i) {
    const Slab slab = slabs[i];
    alignas(64) float lanes[kSumLanes] = {};
    add_to_sum_lanes(dtype, at(x, dtype, slab.first), slab.count, scale, lanes);
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

Launch expand_to_all(const Problem& problem, double divisor) {
  return [dtype = problem.inputs[0].dtype, divisor,
          elements = stored_elements(problem)](const KernelArgs& args) {
    double value = 0;
    to_doubles(dtype, args.inputs[0], 1, &value);
    value /= divisor;
    float element = 0;  // a shorter type uses the first bytes
    from_doubles(dtype, &value, 1, &element);
    for_each_range(elements, [&](std::int64_t begin, std::int64_t end) {
      repeat_element(&element, size_of(dtype), end - begin, at(args.outputs[0], dtype, begin));
    });
  };
}

}  // namespace opbench
