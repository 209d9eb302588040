#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "ops/op.h"

namespace opbench {

// Rules that operators share for their storage formats in a context (ContextTraits).
// Source: Ascend's PyTorch 1.5 adapters (ConcatD, ReluGrad, Axpy, Conv2D) and format selection.

/// Channels of the first tensor that no whole number of blocks of 16 holds; 0: none. Channels are
/// on axis 1, or the elements of a vector.
std::int64_t unaligned_channels(std::span<const TensorDesc> tensors);

/// Input rule of operators that the device has for images in NC1HWC0 only.
std::optional<FormatChoice> blocked_images(const FormatQuery& query);

/// Input rule of products in the cube unit: FRACTAL_NZ on the device.
std::optional<FormatChoice> cube_matrices(const FormatQuery& query);

/// Input rule of convolutions in the cube unit: NC1HWC0 on the device.
std::optional<FormatChoice> cube_images(const FormatQuery& query);

/// Output rule of operators that join tensors: that of the first input, but with
/// concat_output_nchw NCHW where channels are not whole blocks.
std::optional<FormatChoice> joined_output(const FormatQuery& query);

/// Refusal of a cut or joint along the channels of NC1HWC0 inside a block. `parts` are the tensors
/// that must consist of whole blocks.
std::string unaligned_cut(const Problem& problem, std::span<const TensorDesc> parts);

}  // namespace opbench
