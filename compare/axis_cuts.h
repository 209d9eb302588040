#pragma once

#include "compare/cut_search.h"

namespace opbench {

/// Keeps few elements of an elementwise operator, for any shape.
void cut_elements(Cutting& cutting);

/// Keeps few places of each axis of the output, and of the axes of inputs that correspond to it.
void cut_output_axes(Cutting& cutting);

/// Keeps few places of axes that the output does not have: drops rows of a table that no index
/// names.
void cut_hidden_axes(Cutting& cutting);

/// Crops the plane, the last two axes, of an operator with a sliding window (attributes stride and
/// padding). Keeps the windows of few places, without padding: zeros take its place, or the window
/// becomes smaller. The window of a single place has stride and dilation 1.
void cut_windows(Cutting& cutting);

}  // namespace opbench
