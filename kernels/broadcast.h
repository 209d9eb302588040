#pragma once

#include "kernels/simd/elementwise.h"

namespace opbench {

/// What `compute` takes.
enum class BroadcastForm { dense, rows };

/// elementwise_launch for inputs that may be broadcast: `compute` gets parts of the result in
/// which all lie dense, those that are repeated after few elements expanded piece by piece in the
/// cache. With BroadcastForm::rows a part may have several rows (ElementwisePart::rows), and of one
/// input a single element for each.
Launch broadcast_launch(const Problem& problem,
                        std::function<void(const ElementwisePart& part)> compute,
                        BroadcastForm form = BroadcastForm::dense);

}  // namespace opbench
