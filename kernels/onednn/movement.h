#pragma once

#include <span>

#include "kernels/onednn/primitive.h"
#include "tensor/view.h"

namespace opbench::onednn {

/// Empty if oneDNN moves tensors like `desc` without changing a bit, else why not. Wider than
/// `refusal`: whole numbers may be moved, too.
std::string movement_refusal(const TensorDesc& desc);

/// The first refusal of inputs and outputs.
std::string movement_refusal(const Problem& problem);

/// Where a problem joins or cuts along `axis` in NC1HWC0: empty if that is at whole blocks of
/// channels. `parts` are the smaller tensors.
std::string blocks_refusal(std::span<const TensorDesc> parts, std::size_t axis);

/// `desc` with all its axes: dense, or nChw16c for NC1HWC0.
dnnl::memory::desc axes_desc(const TensorDesc& desc);

/// A view of dense memory.
dnnl::memory::desc view_desc(DType dtype, const StridedView& view);

/// `axis` of `desc` as axes_desc counts it.
std::size_t stored_axis(const TensorDesc& desc, std::size_t axis);

}  // namespace opbench::onednn
