#pragma once

// The computation of an operator. A namespace-scope RegisteredKernel adds a variant: a check of
// what it refuses, and a function that binds it to a problem. The helpers divide element-wise work
// among the threads and copy rows and strided views. A vectorised variant also includes
// opbench/simd-inl.h.
#include "kernels/copy/row_copy.h"
#include "kernels/copy/strided_copy.h"
#include "kernels/kernel.h"
#include "kernels/simd/elementwise.h"
#include "opbench/operator.h"
