#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/ops/values.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::string_view kFinalize = "moe_finalize_routing_v2";
const Given kNotGiven{kFp32, {0}, {}};

Given finalize_fp32(const Dims& shape, std::vector<double> values) {
  return {kFp32, shape, std::move(values)};
}
Given finalize_int32(const Dims& shape, std::vector<double> values) {
  return {DType::int32, shape, std::move(values)};
}

std::vector<double> finalized(const std::vector<Given>& inputs, const char* mode) {
  const AttrTexts attrs = {{"drop_pad_mode", mode}};
  const std::vector<double> y = reference_of_tensors(kFinalize, inputs, attrs)[0];
  for (const char* variant : {"native", "moe_finalize_routing_v2"}) {
    EXPECT_EQ(kernel_on_tensors(kFinalize, variant, inputs, attrs, 2)[0], y) << variant;
  }
  return y;
}

// Two tokens with two experts each.
const Given kExpertRows = finalize_fp32({4, 1}, {1, 10, 100, 1000});
const Given kExpertScales = finalize_fp32({2, 2}, {1, 2, 3, 4});

}  // namespace

// By column the copies of token 0 are in rows 3 and 1; by row they are in rows 3 and 2.
TEST(MoeFinalizeRouting, PlacesByColumnOrByRow) {
  const Given places = finalize_int32({4}, {3, 2, 1, 0});
  const std::vector<Given> inputs = {kExpertRows, places,    kNotGiven,
                                     kNotGiven,   kNotGiven, kExpertScales};
  EXPECT_THAT(finalized(inputs, "0"), ElementsAre(1000 + 2 * 10, 3 * 100 + 4));
  EXPECT_THAT(finalized(inputs, "2"), ElementsAre(1000 + 2 * 100, 3 * 10 + 4));
}

TEST(MoeFinalizeRouting, OneExpertWithoutScales) {
  EXPECT_THAT(finalized({kExpertRows, finalize_int32({4}, {3, 2, 1, 0})}, "0"),
              ElementsAre(1000, 100, 10, 1));
}

TEST(MoeFinalizeRouting, ResidualsAndBias) {
  const std::vector<Given> inputs = {kExpertRows,
                                     finalize_int32({4}, {0, 1, 2, 3}),
                                     finalize_fp32({2, 1}, {0.5, 0.25}),
                                     finalize_fp32({2, 1}, {-4, 4}),
                                     finalize_fp32({3, 1}, {7, 8, 9}),
                                     kExpertScales,
                                     finalize_int32({2, 2}, {0, 2, 1, 0})};
  EXPECT_THAT(finalized(inputs, "2"),
              ElementsAre(-3.5 + 1 + 7 + 2 * 19, 4.25 + 3 * 108 + 4 * 1007));
}

// A dropped copy is a row of zeros; its bias counts.
TEST(MoeFinalizeRouting, DroppedCopies) {
  const std::vector<Given> inputs = {finalize_fp32({2, 2, 1}, {1, 10, 100, 1000}),
                                     finalize_int32({4}, {3, -1, 0, -1}),
                                     kNotGiven,
                                     kNotGiven,
                                     finalize_fp32({2, 1}, {0.5, 2}),
                                     kExpertScales,
                                     finalize_int32({2, 2}, {1, 0, 0, 1})};
  EXPECT_THAT(finalized(inputs, "3"), ElementsAre(1002 + 2 * 0.5, 3 * 1.5 + 4 * 2));
  EXPECT_THAT(finalized(inputs, "1"), ElementsAre(1002 + 2 * 1.5, 3 * 0.5 + 4 * 2));
}

// fp16 has steps of 2^-10 here. The product 1.5 + 1.5*2^-10 becomes 1.5 + 2*2^-10, and the sum with
// -0.5*2^-10 is a tie again.
TEST(MoeFinalizeRouting, StepsOfFp16) {
  const auto half = [](const Dims& shape, std::vector<double> values) {
    return Given{DType::fp16, shape, std::move(values)};
  };
  const Given none = half({0}, {});
  const std::vector<Given> inputs = {
      half({1, 1}, {1 + 0x1p-10}), finalize_int32({1}, {0}), half({1, 1}, {-0x1p-11}), none, none,
      half({1, 1}, {1.5})};
  EXPECT_THAT(kernel_on_tensors(kFinalize, "moe_finalize_routing_v2_910b", inputs)[0],
              ElementsAre(1.5 + 0x1p-9));
  EXPECT_THAT(kernel_on_tensors(kFinalize, "moe_finalize_routing_v2", inputs)[0],
              ElementsAre(1.5 + 0x1p-10));
}

// Copy 1 of token 0 was dropped; the bias is still added for it. By row, rows 3, -, 1, 0.
TEST(MoeFinalizeRouting, GradientByHand) {
  const std::vector<Given> inputs = {
      kExpertRows,   finalize_fp32({2, 1}, {10, 20}),    finalize_int32({4}, {3, -1, 1, 0}),
      kExpertScales, finalize_fp32({2, 1}, {0.5, 0.25}), finalize_int32({2, 2}, {0, 1, 1, 1})};
  const AttrTexts attrs = {{"drop_pad_mode", "2"}};
  const char* const op = "moe_finalize_routing_v2_grad";
  const Values expected = reference_of_tensors(op, inputs, attrs);
  EXPECT_THAT(expected[0], ElementsAre(4 * 20, 3 * 20, 0, 10));
  EXPECT_THAT(expected[1], ElementsAre(10005, 2.5, 205, 25));
  EXPECT_THAT(expected[2], ElementsAre(10, 2 * 10 + 7 * 20));
  for (const char* variant : {"native", op}) {
    for (std::size_t output = 0; output < 3; ++output) {
      EXPECT_EQ(kernel_on_tensors(op, variant, inputs, attrs, 2)[output], expected[output]);
    }
  }
  EXPECT_THAT(
      [&] {
        std::vector<Given> twice = inputs;
        twice[2] = finalize_int32({4}, {3, 1, 1, 0});
        reference_of_tensors(op, twice, attrs);
      },
      ThrowsMessage<Error>(HasSubstr("expanded_row_idx[2] is 1 again; allowed: each row once")));
}

TEST(MoeFinalizeRouting, Refusals) {
  const auto refused = [](const std::vector<Given>& inputs, const char* mode, const char* text) {
    EXPECT_THAT(
        [&] {
          reference_of_tensors(kFinalize, inputs, {{"drop_pad_mode", mode}});
        },
        ThrowsMessage<Error>(HasSubstr(text)));
  };
  const Given places = finalize_int32({4}, {0, 1, 2, 3});
  refused({kExpertRows, places}, "1", "allowed: [experts, capacity, columns]");
  refused({kExpertRows, places, finalize_fp32({2, 1}, {1, 1})}, "0",
          "'x1' has shape 2x1; allowed: 4x1");
  refused(
      {kExpertRows, places, kNotGiven, kNotGiven, finalize_fp32({3, 1}, {7, 8, 9}), kExpertScales},
      "0", "'bias' needs 'expert_idx'");
  refused({kExpertRows, places, kNotGiven, kNotGiven, finalize_fp32({1, 1}, {7}), kExpertScales,
           finalize_int32({2, 2}, {0, 0, 0, 1})},
          "0", "expert_idx[3] is 1; allowed: 0 to 0");
}

}  // namespace opbench
