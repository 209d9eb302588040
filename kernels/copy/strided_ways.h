#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/copy/strided_walk.h"

namespace opbench {

/// How a strided copy is carried out.
class StridedCopy::Way {
 public:
  virtual ~Way() = default;
  virtual void run(const std::byte* from, std::byte* to) const = 0;
};

// Each takes the loops around what it moves, and the size of an element in bytes.

/// Neighbours stay neighbours: rows of `run`, whose strides are 1, or blocks of short ones.
std::unique_ptr<StridedCopy::Way> copy_rows(Loops outer, const StridedLoop& run, std::int64_t bytes,
                                            bool stream);

/// Neighbours of the input lie along `a`, those of the output along `b`.
std::unique_ptr<StridedCopy::Way> copy_planes(Loops outer, const StridedLoop& a,
                                              const StridedLoop& b, std::int64_t bytes,
                                              bool stream);

/// No neighbours in the input: one element after the other.
std::unique_ptr<StridedCopy::Way> copy_elements(Loops outer, const StridedLoop& run,
                                                std::int64_t bytes, bool stream);

}  // namespace opbench
