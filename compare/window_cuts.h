#pragma once

#include "compare/place_search.h"

namespace opbench {

/// Of an operator that slides a window over a plane, the last two axes (attributes stride and
/// padding): crops the plane to the windows of few places, without padding: zeros stand where it
/// was, or the window has no more places there. The window of a single place has stride and
/// dilation 1.
void cut_windows(Cutting& cutting);

}  // namespace opbench
