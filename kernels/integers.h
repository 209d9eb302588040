#pragma once

#include "kernels/kernel.h"

namespace opbench {

/// One pass over all elements of an operator on integers or bool, inputs broadcast: plain loops in
/// the dtype, modulo 2^bits. Errors: throws std::logic_error if no loop has the operator's name.
Launch integer_launch(const Problem& problem);

}  // namespace opbench
