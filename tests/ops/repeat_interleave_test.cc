#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/ops/values.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

const Given kRepeated{kFp32, {2, 3}, {1, 2, 3, 4, 5, 6}};
Given times(const std::vector<double>& values) {
  return {DType::int32, {std::ssize(values)}, values};
}

}  // namespace

// Source: the documentation of torch.repeat_interleave.
TEST(RepeatInterleave, ByHand) {
  EXPECT_THAT(agreed_values("repeat_interleave", {{kFp32, {3}, {1, 2, 3}}}),
              ElementsAre(1, 1, 2, 2, 3, 3));
  EXPECT_THAT(
      agreed_values("repeat_interleave", {kRepeated, times({1, 2})}, {{"output_size", "3"}}),
      ElementsAre(1, 2, 3, 4, 5, 6, 4, 5, 6));
  EXPECT_THAT(agreed_values("repeat_interleave", {kRepeated, times({2, 0, 1})},
                            {{"axis", "-1"}, {"output_size", "3"}}),
              ElementsAre(1, 1, 3, 4, 4, 6));
  EXPECT_THAT(agreed_values("repeat_interleave", {kRepeated, times({0})}, {{"output_size", "0"}}),
              ElementsAre());
}

TEST(RepeatInterleave, GradientByHand) {
  EXPECT_THAT(agreed_values("repeat_interleave_grad", {kRepeated, times({2, 0, 1})},
                            {{"axis", "1"}, {"input_size", "3"}}),
              ElementsAre(3, 0, 3, 9, 0, 6));
  EXPECT_THAT(agreed_values("repeat_interleave_grad", {kRepeated}), ElementsAre(5, 7, 9));
}

TEST(RepeatInterleave, Refusals) {
  const auto refused = [](const Given& repeats, const char* text) {
    EXPECT_THAT(
        [&] {
          agreed_values("repeat_interleave", {kRepeated, repeats});
        },
        ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused(times({1, 2, 3}), "'repeats' has shape 3; allowed: 1 or 2");
  refused(times({1, 2}), "'repeats' give 3 places; allowed: 4, the extent");
  refused(times({-1, 2}), "repeats[0] is -1");
}

}  // namespace opbench
