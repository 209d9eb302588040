#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ops/index.h"
#include "ops/op.h"

namespace opbench {

/// Element types of the experts of tokens and of the places of their copies, that of devices first.
inline const std::vector<DType> kExpertDTypes = {DType::int32, DType::int64};

/// A mixture of experts copies every token once for each of its experts. Copy i is that of token i
/// / k for its expert i % k.
struct SortedCopies {
  std::vector<std::int64_t> order;  ///< the copy at each place
  std::vector<std::int64_t> place;  ///< the place of each copy

  /// Copies by ascending expert; those of one expert keep their order.
  explicit SortedCopies(const std::vector<std::int64_t>& experts);
};

/// The number of rows of a tensor [.., columns].
std::int64_t rows_of(const TensorDesc& desc);

/// Errors: throws Error that names the operator and the input unless it has the axes `allowed`, a
/// text such as "[tokens, columns]".
void require_rank(std::string_view op, std::string_view input, const TensorDesc& desc,
                  std::size_t rank, std::string_view allowed);

/// The rule for attributes that count experts or rows.
std::string must_be_positive(const AttrValue& value);
std::string must_not_be_negative(const AttrValue& value);

/// Input `name` with places of copies: every row once, in random order.
TensorSpec places_of_copies(std::string_view name);

/// Errors: throws Error that names the operator and the input if two places are one row of `rows`;
/// places outside of them are dropped copies.
void check_rows_once(const IndexRule& of, std::int64_t rows, std::span<const std::int64_t> places);

/// The sums of the copies of each token: y[t] = the sum of x[places[t*k + j]] over j. Copies
/// without a place in x, such as dropped ones, are 0.
std::vector<GradientCall> sum_of_copies(std::int64_t k);

}  // namespace opbench
