#include <gmock/gmock.h>

#include <cmath>

#include "tensor/error.h"
#include "tests/conforms.h"
#include "tests/ops/values.h"

namespace opbench {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

Values joined_parts(const std::vector<double>& lse, const std::vector<double>& parts) {
  const auto count = static_cast<std::int64_t>(lse.size());
  return reference_of_tensors("attention_update",
                              {{kFp32, {count, 1}, lse}, {kFp32, {count, 1, 1}, parts}});
}

}  // namespace

// Sums of 1 and 3 keys with the values 4 and 8: a quarter and three quarters.
TEST(AttentionUpdate, WeighsPartsByTheirSums) {
  const Values y = joined_parts({0, std::log(3)}, {4, 8});
  EXPECT_THAT(y[0], ElementsAre(DoubleNear(7, 1e-6)));
  EXPECT_THAT(y[1], ElementsAre(DoubleNear(std::log(4), 1e-6)));
}

// Parts that were not computed may have any values.
TEST(AttentionUpdate, LeavesOutInfiniteParts) {
  for (const double mark : {HUGE_VAL, -HUGE_VAL}) {
    EXPECT_EQ(joined_parts({mark, 2}, {NAN, 8}), joined_parts({2}, {8})) << mark;
    EXPECT_EQ(joined_parts({mark, mark}, {1, 2}), (Values{{0}, {-HUGE_VAL}})) << mark;
  }
}

TEST(AttentionUpdate, EveryVariantAtEverySize) {
  for (const std::int64_t width : {1, 15, 64, 130}) {
    for (const DType dtype : {kFp32, DType::fp16, DType::bf16}) {
      const Problem problem =
          make_problem(find_op("attention_update"),
                       {describe(kFp32, {3, 5}), describe(dtype, {3, 5, width})}, Attrs());
      for (const Kernel* kernel : kernels_of("attention_update")) {
        for (const int threads : {1, 2}) EXPECT_TRUE(expect_conforms(*kernel, problem, threads));
      }
    }
  }
}

TEST(AttentionUpdate, NoPartsAreZero) {
  const Values y =
      reference_of_tensors("attention_update", {{kFp32, {0, 2}, {}}, {kFp32, {0, 2, 1}, {}}});
  EXPECT_THAT(y[0], ElementsAre(0, 0));
  EXPECT_THAT(y[1], ElementsAre(-HUGE_VALF, -HUGE_VALF));
}

TEST(AttentionUpdate, RefusesOtherShapes) {
  EXPECT_THAT(
      [] {
        problem_with(find_op("attention_update"), {{2, 3}, {2, 4, 5}}, {}, kFp32);
      },
      ThrowsMessage<Error>(HasSubstr("'lse' has shape 2x3 and 'local_out' 2x4x5")));
}

}  // namespace opbench
