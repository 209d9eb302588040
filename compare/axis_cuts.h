#pragma once

#include "compare/cut_search.h"

namespace opbench {

/// Keeps few elements of an operator whose tensors go element by element, whatever their shapes.
void cut_elements(Cutting& cutting);

/// Keeps few places of each axis of the output, and of the axes of inputs that go with it.
void cut_output_axes(Cutting& cutting);

/// Keeps few places of axes that the output does not have: rows of a table that no index names.
void cut_hidden_axes(Cutting& cutting);

/// Crops the plane, the last two axes, of an operator that slides a window over it (attributes
/// stride and padding). The windows of few places are left, without padding: zeros are at its
/// places, or the window has no more places there. The window of a single place has stride and
/// dilation 1.
void cut_windows(Cutting& cutting);

}  // namespace opbench
