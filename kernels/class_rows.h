#pragma once

#include <cstdint>

#include "kernels/index_at.h"
#include "kernels/simd/cube.h"
#include "ops/class_loss.h"
#include "tensor/parallel.h"

namespace opbench {

/// A matrix of rows of classes, with the target of each row: its class, its weight, and with label
/// smoothing a share for all classes.
struct ClassRows {
  DType dtype, index;
  std::int64_t rows, classes, ignore_index;
  std::int64_t apart;  ///< distance of neighbouring classes of a row; 1 except for images
  float smoothing;
  Reduction reduction;

  ClassRows(const Problem& problem, std::size_t logits)
      : dtype(problem.inputs[logits].dtype),
        index(problem.inputs[logits + 1].dtype),
        rows(problem.inputs[logits].elements() / problem.inputs[logits].shape[1]),
        classes(problem.inputs[logits].shape[1]),
        ignore_index(problem.attrs.integer("ignore_index")),
        apart(rows / problem.inputs[logits].shape[0]),
        smoothing(problem.attrs.values().contains("label_smoothing")
                      ? static_cast<float>(problem.attrs.number("label_smoothing"))
                      : 0),
        reduction(reduction_of(problem.attrs)) {}

  const void* row(const void* x, std::int64_t n) const { return at(x, dtype, n * classes); }
  void* row(void* x, std::int64_t n) const { return at(x, dtype, n * classes); }
  /// The element of class `c` in row `n`.
  std::int64_t place(std::int64_t n, std::int64_t c) const {
    return (n / apart * classes + c) * apart + n % apart;
  }
  float element(const void* x, std::int64_t i) const {
    float value = 0;
    load_floats(dtype, at(x, dtype, i), 1, &value);
    return value;
  }
  void store(float value, void* y, std::int64_t i) const {
    store_floats(dtype, &value, 1, at(y, dtype, i));
  }
  std::int64_t wanted(const void* target, std::int64_t n) const {
    return index_at(index, target, n);
  }
  /// The factor of row `n` in the loss: 0 for an ignored row.
  float factor(const void* target, const float* weight, std::int64_t n) const {
    const std::int64_t c = wanted(target, n);
    return c == ignore_index ? 0.0f : weight == nullptr ? 1.0f : weight[c];
  }
  /// The divisor of the sum of all losses.
  template <class Sum>
  Sum total(const void* target, const float* weight) const {
    if (reduction != Reduction::mean) return 1;
    Sum sum = 0;
    for (std::int64_t n = 0; n < rows; ++n) sum += Sum(factor(target, weight, n));
    return sum;
  }
  template <class Body>
  void for_each(Body body) const {
    parallel_ranges(rows, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t n = begin; n < end; ++n) body(n);
    });
  }
};

/// Input `place` with the factor of each class; null: all factors are 1.
inline const float* weight_of(const KernelArgs& args, std::size_t place) {
  return args.inputs.size() > place ? static_cast<const float*>(args.inputs[place]) : nullptr;
}

}  // namespace opbench
