#include <gmock/gmock.h>

#include <cmath>

#include "tensor/error.h"
#include "tests/on_tensors.h"
#include "tests/support.h"

namespace opbench {
namespace {

Given parameter(double value) { return {DType::fp32, {1}, {value}}; }

}  // namespace

// s = 0.5*2 + 0.5*4 = 3; d = 2 sqrt((8 + 1)/(3 + 1)) = 3; u = 0.5*8 + 0.5*9.
TEST(Adadelta, HandComputed) {
  const AttrTexts attrs = {{"lr", "0.5"}, {"rho", "0.5"}, {"eps", "1"}};
  const std::vector<Given> inputs = {parameter(4), parameter(2), parameter(2), parameter(8)};
  const auto check = [&](const Values& found) {
    EXPECT_NEAR(found[0][0], 2.5, 1e-6);
    EXPECT_NEAR(found[1][0], 3, 1e-6);
    EXPECT_NEAR(found[2][0], 8.5, 1e-6);
  };
  check(reference_of_tensors("adadelta", inputs, attrs));
  on_every_isa([&] { check(kernel_on_tensors("adadelta", "native", inputs, attrs)); });
}

// The decayed gradient is 1 + 0.25*4 = 2.
TEST(Adadelta, WeightDecayIsAddedToTheGradient) {
  const AttrTexts attrs = {{"rho", "0.5"}, {"eps", "1"}, {"weight_decay", "0.25"}};
  const Values found = reference_of_tensors(
      "adadelta", {parameter(4), parameter(1), parameter(2), parameter(8)}, attrs);
  EXPECT_NEAR(found[0][0], 1, 1e-6);
  EXPECT_THAT(
      [] {
        attrs_of(find_op("adadelta"), {{"rho", "2"}});
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr("it must be from 0 to 1")));
}

}  // namespace opbench
