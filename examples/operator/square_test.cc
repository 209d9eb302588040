// Tests of the operator, with the helpers of opbench's own tests.
#include <gtest/gtest.h>
#include <opbench/testing.h>

namespace opbench {

TEST(Square, HandComputed) {
  EXPECT_EQ(kernel_values("square", "native", DType::fp32, {{-1.5, 0, 3}}),
            (std::vector<double>{2.25, 0, 9}));
}

TEST(Square, ConformsWithEveryInstructionSet) {
  const Problem problem = problem_with(find_op("square"), {{2, 3, 5, 7}}, {}, DType::fp32);
  on_every_isa([&] { EXPECT_TRUE(expect_conforms(find_kernel("square", "native"), problem, 2)); });
}

}  // namespace opbench
