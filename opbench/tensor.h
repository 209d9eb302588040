#pragma once

// Tensors: dtypes, shapes, storage formats, memory, half types, threads, errors.
#include "tensor/dtype.h"
#include "tensor/error.h"
#include "tensor/format.h"
#include "tensor/half.h"
#include "tensor/parallel.h"
#include "tensor/shape.h"
#include "tensor/tensor.h"
