#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/evaluate.h"

namespace opbench {

using testing::ElementsAre;
using testing::IsNan;

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Relu, KeepsPositiveNumbersAndNaN) {
  EXPECT_THAT(reference_values("relu", DType::fp32, {{-1, 0, 2, kInf, -kInf, std::nan("")}}),
              ElementsAre(0, 0, 2, kInf, 0, IsNan()));
}

// Compare and select: a closed gate gives exactly 0 even for an infinite gradient, a NaN feature
// passes it.
TEST(ReluGrad, SelectsByTheFeature) {
  EXPECT_THAT(reference_values("relu_grad", DType::fp32,
                               {{5, 6, 7, kInf, 9}, {-1, 0, 2, -1, std::nan("")}}),
              ElementsAre(0, 0, 7, 0, 9));
}

}  // namespace opbench
