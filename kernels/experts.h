#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/index_at.h"
#include "kernels/kernel.h"

namespace opbench {

/// The copies of tokens by ascending expert. Memory is kept between calls.
class CopyOrder {
 public:
  explicit CopyOrder(const TensorDesc& experts);
  static std::size_t bytes(const TensorDesc& experts);

  /// Sorts words of an expert and a copy each.
  void sort(const void* experts);
  /// Counts the copies of each expert; experts beyond kCounted are sorted.
  void count(const void* experts);

  std::int64_t expert(const void* experts, std::int64_t copy) const {
    return index_at(dtype_, experts, copy);
  }
  std::int64_t copies() const { return static_cast<std::int64_t>(order_.size()); }
  /// The copy at place `p`.
  std::int64_t operator[](std::int64_t p) const { return order_.data()[p]; }

 private:
  static constexpr std::int64_t kCounted = 4096;

  DType dtype_;
  std::vector<std::int64_t> order_, starts_;
  std::vector<std::uint64_t> words_;
};

/// y[t] = x1[t] + x2[t] + the sum of factors[t][j]*(x[r] + bias[experts[t][j]]) over j, where r =
/// places[t][j]; rows outside of x are 0. Inputs of a problem by their position; kNone: not given.
struct RowSums {
  static constexpr std::size_t kNone = SIZE_MAX;

  DType dtype;
  std::int64_t tokens, k, columns, rows;
  std::size_t x = 0, places = 1, factors = kNone, x1 = kNone, x2 = kNone, bias = kNone,
              experts = kNone;
  bool is_by_column = false;  ///< the first copies of all tokens, then the second ones
  DType places_dtype, experts_dtype = DType::int32;

  /// For a use of moe_token_permute_grad, moe_token_unpermute or moe_finalize_routing_v2.
  explicit RowSums(const Problem& problem);
};

/// In fp32 with one rounding, in vectors or element by element; or with every product and sum
/// rounded to fp16.
Launch row_sums_in_vectors(const Problem& problem);
Launch row_sums_by_element(const Problem& problem);
Launch row_sums_in_fp16_steps(const Problem& problem);

}  // namespace opbench
