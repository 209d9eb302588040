#pragma once

#include "kernels/copy/plane.h"

namespace opbench {

/// True if a plane is as thin as pixels of 2 to 4 colours on one side and dense there: rows of the
/// output that lie side by side, or of the input. Squares do not fit such planes.
bool is_thin(const Plane& plane);

/// `transpose_plane` of a thin one: dealt to the rows, or woven from them, vector by vector.
void transpose_thin_plane(const Plane& plane, const void* from, void* to, bool stream);

}  // namespace opbench
