#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "judge/judge.h"
#include "judge/pair_stats.h"
#include "judge/standard.h"
#include "tensor/dtype.h"
#include "tensor/elements.h"

namespace opbench {

/// The blocks of a tensor (see block) that are checked. These are all blocks if it has at most
/// `most_elements`. Otherwise they are the first, the last, and a random one from each of equal
/// runs of blocks in between, about `most_elements` in all. They are the same blocks each time.
class SampledBlocks {
 public:
  SampledBlocks(const TensorDesc& desc, std::int64_t most_elements);

  std::int64_t count() const { return static_cast<std::int64_t>(blocks_.size()); }
  ElementRange at(std::int64_t i) const {
    return block(desc_, blocks_[static_cast<std::size_t>(i)]);
  }

 private:
  const TensorDesc& desc_;
  std::vector<std::int64_t> blocks_;
};

/// Corresponding elements of two tensors in memory, dense and in logical order.
struct ValuePair {
  DType actual_dtype, expected_dtype;
  const void* actual;    ///< the element range.first
  const void* expected;  ///< the element range.first
  ElementRange range;    ///< of the tensors; names the places of errors
};

/// Measures the errors, min_tolerance included, in this thread. Parts of a tensor may be measured
/// in any order; merged in their order they give the same bits. A tolerance that follows the scale
/// uses `scale`, which is that of the whole tensor.
PairStats measure_values(const ValuePair& values, const Tolerance& tolerance, double scale = 1);

/// The scale of `count` values that are dense in memory; see Magnitudes.
double scale_of(DType dtype, const void* values, std::int64_t count);

/// The result of comparing two tensors.
struct ValueComparison {
  PairStats stats;
  Judgement judgement;
  std::string formula;  ///< the tolerance that the tensors were checked against
  WorstElement named;   ///< that the judgement names where it is a failure
};

/// Measures the parts 0 to parts - 1 of a tensor in parallel, joins them in order, and checks them
/// against `standard`, which must not be a cross-check.
ValueComparison compare_parts(std::int64_t parts,
                              const std::function<PairStats(std::int64_t part)>& measure,
                              const Standard& standard, const JudgedTensor& tensor);

/// Compares `count` elements that are dense in memory with their expected values, and checks them
/// against `standard`, which must not be a cross-check. Errors are counted in units of the coarser
/// dtype. `shape`, of `count` elements, names their places; without it they are one row. The result
/// has the same bits for any number of threads (see with_threads), and as for equal values in two
/// dumps.
ValueComparison compare_values(const void* actual, DType actual_dtype, const void* expected,
                               DType expected_dtype, std::int64_t count, const Standard& standard,
                               const Dims& shape = {});

}  // namespace opbench
