#pragma once

// What tests of operators and kernels of other projects need, installed as <opbench/testing.h>:
// link opbench::testing and GoogleTest's main.
#include "tests/conforms.h"
#include "tests/evaluate.h"
#include "tests/on_tensors.h"
#include "tests/ops/finite_difference.h"
#include "tests/support.h"
