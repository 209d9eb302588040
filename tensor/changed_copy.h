#pragma once

#include <cstdint>
#include <functional>

#include "tensor/buffer.h"
#include "tensor/tensor.h"

namespace opbench {

/// A copy of the storage of a floating tensor whose element at `place` is `change(place, value)`,
/// rounded to its dtype. Called from several threads at once.
Buffer changed_copy(const TensorDesc& desc, const void* storage,
                    const std::function<double(std::int64_t place, double value)>& change);

}  // namespace opbench
