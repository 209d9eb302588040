#pragma once

#include <string_view>

#include "ops/op.h"

namespace opbench {

/// The extents of c[m, n] = sum over k of a[m, k] * b[k, n], `batch` times over.
struct MatMulShape {
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;  ///< a is stored as [k, m], b as [n, k]

  double operations() const { return 2.0 * double(batch) * double(m) * double(n) * double(k); }
};

/// The shape of the product of operator `op`. The leading axes of both factors are the batch and
/// must be equal. Errors: throws Error that names the operator, the shapes and the axes that must
/// agree.
MatMulShape matmul_shape(std::string_view op, const TensorDesc& a, const TensorDesc& b,
                         bool transpose_a, bool transpose_b);

/// The shape of a use of matmul or linear.
MatMulShape matmul_shape(const Problem& problem);

/// Elements of c in fp64, each the sum over k in order, plus `bias[column]` if given.
Reference matmul_reference(const InputReader& a, const InputReader& b, const InputReader* bias,
                           const MatMulShape& shape);

/// Normal numbers with a deviation that makes the deviation of a sum over `terms` products with
/// normal(0,1) 1. Networks initialise their weights like this, and the tolerances fit such outputs.
Distribution weight_data(std::int64_t terms);

/// normal(0,1), stated explicitly: extreme values among the terms of a sum would hide the others.
Distribution unit_data(const Problem& problem);

}  // namespace opbench
