#pragma once

#include <string_view>
#include <vector>

#include "ops/movement.h"
#include "ops/op.h"

namespace opbench {

// The framework's operators for joining, shuffling and cutting channels, which cat_shuffle and its
// relatives replace:
//
//   forward   native: concat, channel_shuffle, and a copy of each half
//             full: concat, index_select, and a copy of each half
//             half: concat, and an index_select for each half
//   backward  native: concat, channel_shuffle back, a copy of each half
//             index_add: concat, index_add to zeros, a copy of each half
//             index_add_host: the same, and a copy of the index
//             full, half: concat, and an index_select for each half
//
// A single output needs no copies, and a single input needs no concat.

std::vector<ComposedCall> compose_shuffle(const Problem& problem, std::string_view form);
std::vector<ComposedCall> compose_shuffle_grad(const Problem& problem, std::string_view form);

// A channel shuffle transposes the channels as a matrix of `groups` rows: y[:, i] = x[:,
// fp_index[i]]. Its inverse is the shuffle with channels / groups groups.

/// The index of a channel shuffle, range(channels) as (groups, channels / groups), transposed. For
/// 6 channels in 2 groups: 0 3 1 4 2 5.
std::vector<std::int64_t> fp_index(std::int64_t channels, std::int64_t groups);

/// The index of the inverse: fp_index[inverse[i]] = i. For 6 channels in 2 groups: 0 2 4 1 3 5.
std::vector<std::int64_t> inverse_fp_index(std::int64_t channels, std::int64_t groups);

/// [N, C, ...] as [N, groups, C / groups, inner] with the two in the middle swapped.
StridedView shuffled_view(const Dims& shape, std::int64_t groups);

/// Errors: throws Error that names operator and input unless `shape` has an axis 1.
void require_channels(std::string_view op, std::string_view input, const Dims& shape);

/// Errors: throws Error that names the operator unless `groups` divides `channels`.
void require_groups(std::string_view op, std::int64_t channels, std::int64_t groups);

/// Attribute `groups` of the shuffling operators.
AttrSpec groups_attr();

// The operators that shuffle the channels of two tensors, each with half of them, and their
// inverses. "Joined" channels are those of all tensors of one side, in order.

/// The reference that moves joined channels: for each joined channel of the outputs it takes the
/// joined channel of the inputs.
ExactReference joined_channels_moved(std::span<const InputReader> inputs,
                                     std::int64_t output_channels,
                                     std::vector<std::int64_t> source_of);

/// Checks that two halves are alike and that `groups` divides their channels. Returns the joined
/// shape. Errors: throws Error that names the operator and the rule.
Dims joined_shape(std::string_view op, std::span<const TensorDesc> halves, const Attrs& attrs);

/// The shape of each half of `joined`.
Dims half_shape(std::string_view op, std::string_view input, const Dims& joined);

}  // namespace opbench
