#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ops/op.h"

namespace opbench {

/// A product of matrices by groups. With a weight of three axes, a group is some rows of x and has
/// its own weight. With a weight of two axes, a group is some columns of x and rows of the weight,
/// and each has its own result.
struct GroupedMatMul {
  enum Input : std::size_t { x, weight, groups, bias };

  bool splits_terms;  ///< groups are columns of x
  bool are_counts;    ///< the group list has the sizes of groups, else their running totals
  bool transpose_x, transpose_weight;  ///< stored with the last two axes exchanged
  std::int64_t group_count, m, n, k;   ///< m and k of all groups

  /// For a use of grouped_matmul.
  GroupedMatMul(std::span<const TensorDesc> inputs, const Attrs& attrs);

  /// The extent that is split into groups.
  std::int64_t split_extent() const { return splits_terms ? k : m; }
};

}  // namespace opbench
