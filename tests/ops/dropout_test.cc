#include <gmock/gmock.h>

#include <cmath>

#include "tensor/error.h"
#include "tests/ops/finite_difference.h"
#include "tests/support.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsNan;
using testing::ThrowsMessage;

// Kept elements are divided by 1 - p. A dropped NaN is multiplied by 0 and stays NaN.
TEST(Dropout, ScalesWhatTheMaskLeaves) {
  for (const DType mask : {DType::boolean, DType::uint8}) {
    const std::vector<Given> inputs = {{DType::fp16, {2, 2}, {1, -2, 3, std::nan("")}},
                                       {mask, {2, 2}, {1, 1, 0, 0}}};
    const auto expected = ElementsAre(4, -8, 0, IsNan());
    EXPECT_THAT(reference_of_tensors("dropout", inputs, {{"p", "0.75"}})[0], expected);
    on_every_isa([&] {
      EXPECT_THAT(kernel_on_tensors("dropout", "native", inputs, {{"p", "0.75"}})[0], expected);
    });
  }
}

TEST(Dropout, OfAllOrNothing) {
  const std::vector<Given> inputs = {{DType::fp32, {2}, {1, -2}}, {DType::boolean, {2}, {1, 1}}};
  EXPECT_THAT(kernel_on_tensors("dropout", "native", inputs, {{"p", "0"}})[0], ElementsAre(1, -2));
  EXPECT_THAT(kernel_on_tensors("dropout", "native", inputs, {{"p", "1"}})[0], ElementsAre(0, 0));
  EXPECT_THAT(reference_of_tensors("dropout", inputs, {{"p", "1"}})[0], ElementsAre(0, 0));
}

// Bits 0b1010'0011 and 0b1, the lowest first.
TEST(DropoutDoMask, ScalesWhereTheBitIsSet) {
  const std::vector<Given> inputs = {{DType::fp16, {3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, std::nan("")}},
                                     {DType::uint8, {2}, {0xA3, 1}}};
  const auto expected = ElementsAre(2, 4, 0, 0, 0, 12, 0, 16, IsNan());
  EXPECT_THAT(reference_of_tensors("dropout_do_mask", inputs, {{"keep_prob", "0.5"}})[0], expected);
  EXPECT_THAT(kernel_on_tensors("dropout_do_mask", "native", inputs, {{"keep_prob", "0.5"}})[0],
              expected);
}

TEST(DropoutDoMask, NamesWhatItRefuses) {
  EXPECT_THAT(
      [] {
        problem_with(find_op("dropout_do_mask"), {{3, 3}, {1}}, {}, DType::fp32);
      },
      ThrowsMessage<Error>(HasSubstr("'mask' has 1 bytes; allowed: 2 or more")));
}

TEST(Dropout, GradientsAgreeWithFiniteDifferences) {
  expect_gradients(
      {"dropout", {spread({4}), {DType::boolean, {4}, {1, 0, 1, 1}}}, {{"p", "0.25"}}});
}

TEST(Dropout, NamesWhatItRefuses) {
  EXPECT_THAT(
      [] {
        attrs_of(find_op("dropout"), {{"p", "1.5"}});
      },
      ThrowsMessage<Error>(HasSubstr("it must be from 0 to 1")));
  EXPECT_THAT(
      [] {
        problem_with(find_op("dropout"), {{2, 3}, {3}}, {}, DType::fp32);
      },
      ThrowsMessage<Error>(HasSubstr("dropout: 'mask' has shape 3; allowed: 2x3")));
}

}  // namespace opbench
