#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/conforms.h"
#include "tests/evaluate.h"

namespace opbench {

/// Compares every variant of an operator with its reference, in every arithmetic dtype, on one
/// thread and on two.
inline void expect_every_variant(const std::string& op, const std::vector<Dims>& shapes,
                                 const AttrTexts& attrs) {
  for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
    const Problem problem = problem_with(find_op(op), shapes, attrs, dtype, Format::ND);
    for (const Kernel* kernel : kernels_of(op)) {
      for (const int threads : {1, 2}) {
        EXPECT_TRUE(expect_conforms(*kernel, problem, threads)) << kernel->key();
      }
    }
  }
}

}  // namespace opbench
