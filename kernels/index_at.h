#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace opbench {

/// Element `i` of an index of int64 or int32.
inline std::int64_t index_at(DType dtype, const void* from, std::int64_t i) {
  return dtype == DType::int64 ? static_cast<const std::int64_t*>(from)[i]
                               : static_cast<const std::int32_t*>(from)[i];
}

}  // namespace opbench
