#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/conforms.h"
#include "tests/evaluate.h"

namespace opbench {

enum class Refusals { none, allowed };

/// Compares every variant of an operator with its reference, in every arithmetic dtype, on one
/// thread and on two.
inline void expect_every_variant(const std::string& op, const std::vector<Dims>& shapes,
                                 const AttrTexts& attrs, Refusals refusals = Refusals::none) {
  for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
    const Problem problem = problem_with(find_op(op), shapes, attrs, dtype, Format::ND);
    for (const Kernel* kernel : kernels_of(op)) {
      for (const int threads : {1, 2}) {
        const bool is_run = expect_conforms(*kernel, problem, threads);
        EXPECT_TRUE(is_run || refusals == Refusals::allowed) << kernel->key();
      }
    }
  }
}

}  // namespace opbench
