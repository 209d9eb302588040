#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace opbench {

/// Element `i` of an index.
inline std::int64_t index_at(DType dtype, const void* index, std::int64_t i) {
  return dtype == DType::int64 ? static_cast<const std::int64_t*>(index)[i]
                               : static_cast<const std::int32_t*>(index)[i];
}

}  // namespace opbench
