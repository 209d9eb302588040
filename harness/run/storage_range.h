#pragma once

#include "harness/run/value_range.h"

namespace opbench {

/// What the elements of a tensor in memory come to, padding left out; +-65504 counts in
/// `counted_as` fp16. All zero for what is no floating tensor.
ValueRange storage_range(const TensorDesc& desc, const void* storage, DType counted_as);

}  // namespace opbench
