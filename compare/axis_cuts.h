#pragma once

#include "compare/cut_search.h"

namespace opbench {

/// Keeps few elements of an operator whose tensors go element by element, whatever their shapes.
void cut_elements(Cutting& cutting);

/// Keeps few places of each axis of the output, and of the axes of inputs that go with it.
void cut_output_axes(Cutting& cutting);

/// Keeps few places of axes that the output does not have: rows of a table that no index names.
void cut_hidden_axes(Cutting& cutting);

/// Of an operator that slides a window over a plane, the last two axes (attributes stride and
/// padding): crops the plane to the windows of few places, without padding: zeros stand where it
/// was, or the window has no more places there. The window of a single place has stride and
/// dilation 1.
void cut_windows(Cutting& cutting);

}  // namespace opbench
