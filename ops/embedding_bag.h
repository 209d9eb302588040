#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ops/op.h"
#include "ops/terms.h"

namespace opbench {

/// The bags of a use of embedding_bag or of a gradient of it.
struct EmbeddingBags {
  std::vector<std::int64_t> indices;
  std::vector<std::size_t> bag_of;  ///< of each index
  std::vector<double> factors;      ///< of the row of each index; 0 for padding
  std::vector<bool> counts;         ///< false for padding
  std::size_t bags;
  bool is_max;

  /// `weights`: one for each index; null: not given.
  EmbeddingBags(const InputReader& indices, const InputReader& offsets, const InputReader* weights,
                const Attrs& attrs);

  /// For each bag and column the first index with the greatest element; -1 for an empty bag.
  std::vector<std::int64_t> greatest(std::span<const double> table, std::size_t columns) const;
};

/// The number of bags; with `include_last_offset` the last offset is the end of the last bag.
std::int64_t bags_of(const TensorDesc& offsets, const Attrs& attrs);

/// Errors: throws Error that names the operator and the input unless indices and offsets are lists,
/// and weights, which may be null, have the shape of indices and mode sum.
void require_bags(std::string_view op, const TensorDesc& indices, const TensorDesc& offsets,
                  const TensorDesc* weights, const Attrs& attrs);

/// Checks the values of indices and offsets: bags are contiguous, the first starts at 0.
void check_bags(std::string_view op, std::int64_t rows, const InputReader& indices,
                const InputReader& offsets, const Attrs& attrs);

/// mode, padding_idx and include_last_offset.
std::vector<AttrSpec> bag_attrs();

/// Offsets for a case: all bags have equally many indices; the last one also has the remainder.
/// The indices are input kIndices, the offsets the next one.
template <std::size_t kIndices>
Distribution offsets_data(const Problem& problem) {
  const std::int64_t bags = bags_of(problem.inputs[kIndices + 1], problem.attrs);
  const std::int64_t of_bag = problem.inputs[kIndices].elements() / std::max<std::int64_t>(1, bags);
  return {DistributionKind::arange, 0, double(of_bag)};
}

}  // namespace opbench
