#pragma once

// Everything that another project may use but simd-inl.h, which kernels include per target.
#include "opbench/compare.h"
#include "opbench/kernel.h"
#include "opbench/operator.h"
#include "opbench/run.h"
#include "opbench/tensor.h"
