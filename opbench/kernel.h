#pragma once

// How an operator is computed. A namespace-scope RegisteredKernel adds a variant: what it refuses,
// and a function that binds it to a problem. The helpers cut element-wise work over the threads and
// copy rows and strided views. A vectorised kernel includes opbench/simd-inl.h as well.
#include "kernels/copy/row_copy.h"
#include "kernels/copy/strided_copy.h"
#include "kernels/kernel.h"
#include "kernels/simd/elementwise.h"
#include "opbench/operator.h"
