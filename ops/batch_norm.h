#pragma once

#include "ops/channels.h"
#include "ops/op.h"

namespace opbench {

/// Outputs of batch_norm in training.
enum BatchNormOutput : std::size_t { kResult, kRunningMean, kRunningVar, kSaveMean, kSaveInvstd };

/// A vector of parameters or statistics, one fp32 number for each channel whatever the case's
/// dtype; plain or in NC1HWC0, where the channels lie in the same places with padding after them.
TensorSpec channel_vector(std::string_view name, Distribution (*data)(const Problem& problem));

/// What is added to a variance.
AttrSpec batch_norm_eps();

/// 1/sqrt(variance + eps)
std::vector<double> inverse_deviations(const std::vector<double>& variance, double eps);

/// uniform(0.5,1.5): scales and variances.
Distribution scale_data(const Problem& problem);

}  // namespace opbench
