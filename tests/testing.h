#pragma once

// Helpers for tests of operators and kernels in other projects, installed as <opbench/testing.h>.
// Link opbench::testing and GoogleTest's main.
#include "tests/conforms.h"
#include "tests/evaluate.h"
#include "tests/on_tensors.h"
#include "tests/ops/finite_difference.h"
#include "tests/support.h"
