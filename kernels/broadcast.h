#pragma once

#include "kernels/lanes/elementwise.h"

namespace opbench {

/// What `compute` takes where an element of an input goes with a long run of the result.
enum class Singles { expanded, as_they_are };

/// elementwise_launch for inputs that may be broadcast: `compute` gets parts of the result in
/// which all lie dense, those that are repeated after few elements expanded piece by piece in the
/// cache. With Singles::as_they_are one of them may have a single element
/// (ElementwisePart::single).
Launch broadcast_launch(const Problem& problem,
                        std::function<void(const ElementwisePart& part)> compute,
                        Singles singles = Singles::expanded);

}  // namespace opbench
