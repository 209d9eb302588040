#pragma once

// All public headers except simd-inl.h, which kernels include per target, and testing.h, which
// needs GoogleTest.
#include "opbench/compare.h"
#include "opbench/kernel.h"
#include "opbench/operator.h"
#include "opbench/run.h"
#include "opbench/tensor.h"
