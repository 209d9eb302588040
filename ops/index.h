#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ops/op.h"

namespace opbench {

/// Element types of an index: the one of frameworks, then the one that the device prefers.
inline const std::vector<DType> kIndexDTypes = {DType::int64, DType::int32};

/// The rule for an index outside its axis.
struct IndexRule {
  std::string_view op;
  std::string_view input;  ///< name of the index
  std::int64_t extent = 0;
  bool negative_allowed = false;  ///< -extent..-1 count from the back
};

/// Errors: throws Error that names the first value that breaks the rule, its position and the rule.
void check_index(const IndexRule& rule, std::span<const std::int64_t> values);

/// A negative index counted from the front.
inline std::int64_t from_front(std::int64_t index, std::int64_t extent) {
  return index < 0 ? index + extent : index;
}

/// Random whole numbers in [0, extent).
Distribution index_data(std::int64_t extent);

/// Random whole numbers in [-extent, extent): half of them count from the back.
Distribution index_data_around(std::int64_t extent);

/// Attribute "negative_index", default false.
AttrSpec negative_index_attr();

/// Errors: throws Error that names the operator and the input if its rank is above `most`.
void require_rank_at_most(std::string_view op, std::string_view input, const Dims& shape,
                          std::size_t most);

}  // namespace opbench
