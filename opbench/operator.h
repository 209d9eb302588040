#pragma once

// The definition of an operator. A namespace-scope RegisteredOp adds an operator: its inputs and
// outputs, shape rule, reference in fp64 and traffic. The helpers make references of element-wise
// functions and of data movement, and check attributes and indices.
#include "opbench/tensor.h"
#include "ops/attrs.h"
#include "ops/elementwise.h"
#include "ops/index.h"
#include "ops/movement.h"
#include "ops/op.h"
