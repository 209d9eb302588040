#pragma once

#include "kernels/lanes/elementwise.h"

namespace opbench {

/// elementwise_launch for two inputs that may be broadcast: `compute` gets parts of the result in
/// which both lie dense, the repeated ones expanded piece by piece in the cache.
Launch broadcast_launch(const Problem& problem,
                        std::function<void(const ElementwisePart& part)> compute);

}  // namespace opbench
