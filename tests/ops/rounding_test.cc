#include <gmock/gmock.h>

#include <cmath>

#include "tests/ops/values.h"
#include "tests/support/non_finite.h"

namespace opbench {

using testing::ElementsAre;
using testing::IsNan;

TEST(Rounding, ByHand) {
  for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
    const std::vector<Given> x = {{dtype, {8}, {1.5, 2.5, -1.5, -2.5, 0.25, 200, kNan, -kInf}}};
    expect_values("floor", x, ElementsAre(1, 2, -2, -3, 0, 200, IsNan(), -kInf));
    expect_values("ceil", x, ElementsAre(2, 3, -1, -2, 1, 200, IsNan(), -kInf));
    expect_values("trunc", x, ElementsAre(1, 2, -1, -2, 0, 200, IsNan(), -kInf));
    expect_values("round", x, ElementsAre(2, 2, -2, -2, 0, 200, IsNan(), -kInf));
  }
}

TEST(Rounding, KeepsTheSignOfZero) {
  const std::vector<Given> x = {{kFp32, {2}, {-0.25, -0.0}}};
  for (const char* op : {"ceil", "trunc", "round"}) {
    on_every_isa([&] {
      const Values y = kernel_on_tensors(op, "native", x);
      for (const double zero : y[0]) EXPECT_TRUE(zero == 0 && std::signbit(zero)) << op;
    });
  }
}

}  // namespace opbench
