#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "ops/op.h"

namespace opbench {

// Rules for storage formats in a context that several operators share (ContextTraits). Source:
// Ascend's PyTorch 1.5 adapters (ConcatD, ReluGrad, Axpy, Conv2D) and format selection.

/// The channel count of the first tensor that does not fill whole blocks of 16; 0: all do. Channels
/// are on axis 1, or are the elements of a vector.
std::int64_t unaligned_channels(std::span<const TensorDesc> tensors);

/// The input rule of operators that the device supports only for images in NC1HWC0.
std::optional<FormatChoice> blocked_images(const FormatQuery& query);

/// The input rule of products in the cube unit: FRACTAL_NZ on the device.
std::optional<FormatChoice> cube_matrices(const FormatQuery& query);

/// The input rule of convolutions in the cube unit: NC1HWC0 on the device.
std::optional<FormatChoice> cube_images(const FormatQuery& query);

/// The output rule of operators that join tensors: the format of the first input. With
/// concat_output_nchw it is NCHW if channels are not whole blocks.
std::optional<FormatChoice> joined_output(const FormatQuery& query);

/// The refusal of a cut or joint along the channels of NC1HWC0 inside a block. `parts` are the
/// tensors that must consist of whole blocks.
std::string unaligned_cut(const Problem& problem, std::span<const TensorDesc> parts);

}  // namespace opbench
