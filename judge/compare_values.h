#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "judge/judge.h"
#include "tensor/dtype.h"

namespace opbench {

/// What the comparison of two tensors found.
struct ValueComparison {
  PairStats stats;
  Judgement judgement;
  std::string formula;  ///< what the tensors were held to
  WorstElement named;   ///< that the judgement names where it is a failure
};

/// Measures the parts 0 to parts - 1 of a tensor side by side, joins them in order, and
/// holds them to `standard`, which is no cross-check.
ValueComparison compare_parts(std::int64_t parts,
                              const std::function<PairStats(std::int64_t part)>& measure,
                              const Standard& standard, const JudgedTensor& tensor);

/// Compares `count` elements that lie densely in memory with those that are expected there, and
/// holds them to `standard`, which is no cross-check. Errors are counted in units of the coarser
/// dtype; `shape`, of `count` elements, names their places: without it they are in one row. The
/// same bits for any number of threads (see with_threads), and those of the same values in two
/// dumps.
ValueComparison compare_values(const void* actual, DType actual_dtype, const void* expected,
                               DType expected_dtype, std::int64_t count, const Standard& standard,
                               const Dims& shape = {});

}  // namespace opbench
