#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "ops/op.h"

namespace opbench {

/// A tensor seen from axis 1: [outer, channels, inner].
struct ChannelView {
  std::int64_t outer = 1, channels = 1, inner = 1;

  /// Elements of one channel.
  std::int64_t count() const { return outer * inner; }
};

/// Errors: throws Error that names the operator and the input unless it has two axes or more (four
/// if it is stored in NC1HWC0).
ChannelView channel_view(std::string_view op, std::string_view input, const TensorDesc& desc);

/// Calls `body(channel, values)` for the lines of `inner` values, in their order in memory.
void for_each_line(const InputReader& input, const ChannelView& view,
                   const std::function<void(std::int64_t channel, std::span<const double>)>& body);

/// Errors: throws Error that names the operator and the input unless it is [channels].
void require_per_channel(std::string_view op, std::string_view input, const TensorDesc& desc,
                         std::int64_t channels);

/// The outputs of batch_norm in training.
enum BatchNormOutput : std::size_t { kResult, kRunningMean, kRunningVar, kSaveMean, kSaveInvstd };

/// A vector of parameters or statistics: one fp32 number for each channel, for every dtype of the
/// case. It is stored plainly or in NC1HWC0, where padding follows the channels.
TensorSpec channel_vector(std::string_view name, Distribution (*data)(const Problem& problem));

/// The number that is added to a variance.
AttrSpec batch_norm_eps();

/// 1/sqrt(variance + eps)
std::vector<double> inverse_deviations(const std::vector<double>& variance, double eps);

/// uniform(0.5,1.5), for scales and variances.
Distribution scale_data(const Problem& problem);

}  // namespace opbench
