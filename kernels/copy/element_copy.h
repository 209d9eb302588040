#pragma once

#include <cstdint>
#include <functional>

#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/tensor.h"

namespace opbench {

/// A copy bound to shapes and strides, on the threads of the enclosing `with_threads`.
using ElementCopy = std::function<void(const void* from, void* to)>;

/// Copies the elements of one view to those of another of the same shape, as a framework's copy of
/// non-contiguous tensors does: along the axes as they lie best, with plain stores.
ElementCopy copy_view(const StridedView& from, const StridedView& to, std::size_t element_bytes);

/// The same between a dense tensor `part` and the elements of `whole` from `start` on along `axis`.
/// Both plain or both NC1HWC0.
ElementCopy copy_into(const TensorDesc& part, const TensorDesc& whole, std::size_t axis,
                      std::int64_t start);
ElementCopy copy_out_of(const TensorDesc& whole, const TensorDesc& part, std::size_t axis,
                        std::int64_t start);

}  // namespace opbench
