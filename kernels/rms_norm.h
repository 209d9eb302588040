#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "kernels/kernel.h"
#include "kernels/simd/scratch.h"

namespace opbench {

/// The roundings of intermediate results in rms_norm, add_rms_norm and their gradients.
enum class RmsRounds {
  result,  ///< all in fp32, one rounding
  steps,   ///< each step is rounded to the dtype
};

/// The tensors of rms_norm, [rows, count]; of add_rms_norm if x2 and sum are given.
struct RmsNorm {
  DType dtype;
  std::int64_t count;
  float eps;
  RmsRounds rounds;
  bool streams;
  const void *x = nullptr, *x2 = nullptr;
  const float* weight = nullptr;
  void *y = nullptr, *sum = nullptr;
  float* rstd = nullptr;
};

/// The tensors of the gradient; that of add_rms_norm if grad_sum and dx2 are given.
struct RmsNormGrad {
  DType dtype;
  std::int64_t rows, count;
  RmsRounds rounds;
  bool streams;
  const void *dy = nullptr, *grad_sum = nullptr, *x = nullptr;
  const float *rstd = nullptr, *weight = nullptr;
  void *dx = nullptr, *dx2 = nullptr;
  float* dweight = nullptr;  ///< one row for each block; null: not needed

  /// Blocks of rows, whose sums for dweight are added in order: the bits are the same for every
  /// number of threads.
  static constexpr std::int64_t kBlocks = 64, kRowsOfBlock = 8;
  std::int64_t rows_of_block() const {
    return std::max(kRowsOfBlock, (rows + kBlocks - 1) / kBlocks);
  }
  std::int64_t blocks() const { return (rows + rows_of_block() - 1) / rows_of_block(); }
};

/// The weight of a call in fp32: 1 if it is not given, plus an offset.
class RmsWeight {
 public:
  /// `input`: the place of the weight among the inputs.
  RmsWeight(const Problem& problem, std::size_t input, std::int64_t count);
  /// Valid during the call.
  const float* of(const KernelArgs& args) const;

 private:
  std::size_t input_;
  std::int64_t count_;
  float offset_;
  bool is_given_;
  DType dtype_;
  std::shared_ptr<const Scratch> values_;
};

}  // namespace opbench
