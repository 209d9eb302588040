#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tensor/elements.h"
#include "tensor/tensor.h"

namespace opbench {

/// The source of a tensor's values. Meaning of `a` and `b`:
///   normal       mean a, standard deviation b (Box-Muller in fp64 on Philox4x32-10)
///   uniform      [a, b) in fp64; narrower dtypes may round up to b
///   integers     whole numbers in [a, b]
///   permutation  every whole number of [0, elements) once, in random order
///   constant     a everywhere
///   arange       a, a + b, a + 2b, ...
///   special      NaN, +-Inf, +-0, subnormals, extremes of the dtype, in turn
///   shuffle      the index of a channel shuffle: range(elements) as (a, elements/a), transposed
///   boxes        x1, y1, x2, y2 of boxes with x1 < x2 <= a and y1 < y2 <= a, sides up to a/4 + 1
enum class DistributionKind {
  normal,
  uniform,
  integers,
  permutation,
  constant,
  arange,
  special,
  shuffle,
  boxes,
};

struct Distribution {
  DistributionKind kind = DistributionKind::normal;
  double a = 0;
  double b = 1;

  bool operator==(const Distribution&) const = default;
};

/// "normal(0,1)", "permutation". The inverse also accepts a bare name with the defaults of the kind
/// (normal(0,1) uniform(0,1) integers(0,9) constant(0) arange(0,1) shuffle(2) boxes(1344)).
std::string to_string(const Distribution& distribution);
/// Errors: throws Error that lists what is allowed. a and b must be finite; b >= a for ranges; b >=
/// 0 for normal; a whole number within +-2^53 from a to b for integers.
Distribution parse_distribution(std::string_view text);

/// Errors: throws Error if the parameters break the rules above.
void require_valid(const Distribution& distribution);

/// Writes logical elements of the stream (distribution, seed) over a tensor of `total` elements,
/// rounded to `dtype` (integers clamp), to dense memory. The result depends on the arguments only:
/// any cut of a range gives the same bits.
void generate(const Distribution& distribution, std::uint64_t seed, DType dtype, std::int64_t total,
              ElementRange range, void* to);

/// Fills a tensor in parallel, with the same bits for every thread count and every storage format.
/// Padding becomes zero.
void fill(Tensor& tensor, const Distribution& distribution, std::uint64_t seed);
void fill(const TensorDesc& desc, void* storage, const Distribution& distribution,
          std::uint64_t seed);

}  // namespace opbench
