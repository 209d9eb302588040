#pragma once

#include <string_view>

#include "ops/attrs.h"
#include "ops/channels.h"

namespace opbench {

/// Local response normalisation: y = x / s^beta, where s = k + scale * (the sum of x^2 over the
/// window of each channel). The window is cut off at the first and the last channel.
struct Lrn {
  ChannelView view;
  std::int64_t before, after;  ///< the channels of a window around its own
  double scale, beta, k;       ///< scale: alpha/size

  /// Errors: throws Error that names the operator and the input unless it has three axes or more.
  Lrn(std::string_view op, std::string_view input, const TensorDesc& desc, const Attrs& attrs);
};

}  // namespace opbench
