#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/ops/values.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::string_view kPermute = "moe_token_permute", kUnpermute = "moe_token_unpermute";

Given token_rows(const Dims& shape, std::vector<double> values) {
  return {kFp32, shape, std::move(values)};
}
Given copy_places(std::vector<double> values) {
  return {DType::int32, {std::ssize(values)}, std::move(values)};
}

// The reference's outputs, which both variants return.
Values agreed_tokens(std::string_view op, const std::vector<Given>& inputs,
                     const AttrTexts& attrs = {}) {
  const Values found = reference_of_tensors(op, inputs, attrs);
  for (const std::string_view variant : {std::string_view("native"), op}) {
    EXPECT_EQ(kernel_on_tensors(op, variant, inputs, attrs, 2), found) << variant;
  }
  return found;
}

const Given kTwoTokens = token_rows({2, 2}, {1, 2, 3, 4});
const Given kTwoExperts{DType::int64, {2, 2}, {5, 0, 0, 5}};

}  // namespace

// Copies 1 and 2 go to expert 0, copies 0 and 3 to expert 5.
TEST(MoeTokenPermute, ByHand) {
  const Values all = agreed_tokens(kPermute, {kTwoTokens, kTwoExperts});
  EXPECT_THAT(all[0], ElementsAre(1, 2, 3, 4, 1, 2, 3, 4));
  EXPECT_THAT(all[1], ElementsAre(2, 0, 1, 3));
  const Given one_expert{DType::int32, {2}, {1, 0}};
  EXPECT_THAT(agreed_tokens(kPermute, {kTwoTokens, one_expert})[0], ElementsAre(3, 4, 1, 2));
}

TEST(MoeTokenPermute, RefusesExpertsBeyond32Bits) {
  EXPECT_THAT(
      [] {
        reference_of_tensors(kPermute, {kTwoTokens, {DType::int64, {2}, {0, 0x1p32}}});
      },
      ThrowsMessage<Error>(HasSubstr("allowed: 0 to 2147483647")));
}

TEST(MoeTokenPermute, FewerRowsThanCopies) {
  for (const char* rows : {"1", "-3"}) {
    const Values cut =
        agreed_tokens(kPermute, {kTwoTokens, kTwoExperts}, {{"num_out_tokens", rows}});
    EXPECT_THAT(cut[0], ElementsAre(1, 2));
    EXPECT_THAT(cut[1], ElementsAre(2, 0, 1, 3));
  }
  EXPECT_EQ(agreed_tokens(kPermute, {kTwoTokens, kTwoExperts}, {{"num_out_tokens", "9"}})[0].size(),
            8U);
}

// Copy 3 was cut off.
TEST(MoeTokenPermuteGrad, SumsTheCopiesOfATokenThatWereKept) {
  const Values sums = agreed_tokens("moe_token_permute_grad",
                                    {token_rows({3, 1}, {1, 10, 100}), copy_places({2, 0, 1, 3})},
                                    {{"num_topk", "2"}});
  EXPECT_THAT(sums[0], ElementsAre(101, 10));
}

// (2, 0)*0.5 + (3, 4)*0.25; copy 3 has no row.
TEST(MoeTokenUnpermute, ByHand) {
  const std::vector<Given> inputs = {token_rows({3, 2}, {3, 4, 8, 8, 2, 0}),
                                     copy_places({2, 0, 1, 3}),
                                     token_rows({2, 2}, {0.5, 0.25, -1, 1})};
  EXPECT_THAT(agreed_tokens(kUnpermute, inputs)[0], ElementsAre(1.75, 1, -8, -8));
  EXPECT_THAT(agreed_tokens(kUnpermute, {inputs[0], copy_places({1, 2, 0})})[0],
              ElementsAre(8, 8, 2, 0, 3, 4));
}

TEST(MoeTokenUnpermuteGrad, ByHand) {
  const std::vector<Given> inputs = {token_rows({3, 2}, {3, 4, 8, 8, 2, 0}),
                                     token_rows({2, 2}, {2, 4, 1, 1}), copy_places({2, 0, 3, 3}),
                                     token_rows({2, 2}, {0.5, 0.25, -1, 1})};
  const Values all = agreed_tokens("moe_token_unpermute_grad", inputs);
  EXPECT_THAT(all[0], ElementsAre(0.5, 1, 0, 0, 1, 2)) << "no copy is in row 1";
  EXPECT_THAT(all[1], ElementsAre(4, 22, 0, 0));
}

TEST(MoeTokens, Refusals) {
  const auto refused = [](std::string_view op, const std::vector<Given>& inputs, const char* text,
                          const AttrTexts& attrs = {}) {
    EXPECT_THAT([&] { reference_of_tensors(op, inputs, attrs); },
                ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused(kPermute, {kTwoTokens, copy_places({1, 2, 3})},
          "'indices' has shape 3; allowed: [2] or [2, ");
  refused(kUnpermute, {kTwoTokens, copy_places({0, 1}), token_rows({3, 1}, {1, 1, 1})},
          "each of the 2 elements");
  refused("moe_token_permute_grad", {kTwoTokens, copy_places({0, 1, 2})},
          "a multiple of the 2 copies", {{"num_topk", "2"}});
  refused("moe_token_unpermute_grad", {kTwoTokens, kTwoTokens, copy_places({1, 1})},
          "sorted_indices[1] is 1 again; allowed: each row once");
}

}  // namespace opbench
