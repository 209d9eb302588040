#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/ops/values.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::string_view kInitRouting = "moe_init_routing_v2";

// Three tokens with two experts each.
const Given kRoutedTokens{kFp32, {3, 1}, {10, 20, 30}};
const Given kRoutedExperts{DType::int32, {3, 2}, {1, 0, 1, 2, 0, 1}};

Values routed(const AttrTexts& attrs) {
  const Values found = reference_of_tensors(kInitRouting, {kRoutedTokens, kRoutedExperts}, attrs);
  for (const char* variant : {"native", "moe_init_routing_v2"}) {
    EXPECT_EQ(kernel_on_tensors(kInitRouting, variant, {kRoutedTokens, kRoutedExperts}, attrs, 2),
              found)
        << variant;
  }
  return found;
}

}  // namespace

// Copies by expert: 1 and 4 for expert 0, then 0, 2 and 5, then 3.
TEST(MoeInitRouting, SideBySide) {
  const Values all = routed({});
  EXPECT_THAT(all[0], ElementsAre(10, 30, 10, 20, 30, 20));
  EXPECT_THAT(all[1], ElementsAre(2, 0, 3, 5, 1, 4));
  EXPECT_EQ(all.size(), 2U) << "no counts";
  EXPECT_THAT(routed({{"active_num", "2"}})[0], ElementsAre(10, 30));
  EXPECT_THAT(routed({{"active_num", "2"}})[1], ElementsAre(2, 0, 3, 5, 1, 4));
}

TEST(MoeInitRouting, CountsOrTotals) {
  const char* const flag = "expert_tokens_count_or_cumsum_flag";
  EXPECT_THAT(routed({{"expert_num", "4"}, {flag, "2"}})[2], ElementsAre(2, 3, 1, 0));
  EXPECT_THAT(routed({{"expert_num", "4"}, {flag, "1"}})[2], ElementsAre(2, 5, 6, 6));
}

// Two rows for each expert: copy 5 is dropped.
TEST(MoeInitRouting, CapacityDropsAndPads) {
  const Values all = routed({{"expert_num", "3"},
                             {"expert_capacity", "2"},
                             {"drop_pad_mode", "1"},
                             {"expert_tokens_before_capacity_flag", "true"}});
  EXPECT_THAT(all[0], ElementsAre(10, 30, 10, 20, 20, 0));
  EXPECT_THAT(all[1], ElementsAre(2, 0, 3, 4, 1, -1));
  EXPECT_THAT(all[2], ElementsAre(2, 3, 1));
}

// Experts beyond those that are counted are sorted.
TEST(MoeInitRouting, AnyNumberOfExperts) {
  const std::vector<Given> inputs = {kRoutedTokens, {DType::int64, {3, 1}, {5000, 7, 4999}}};
  for (const char* variant : {"native", "moe_init_routing_v2"}) {
    EXPECT_THAT(kernel_on_tensors(kInitRouting, variant, inputs)[0], ElementsAre(20, 30, 10));
  }
}

TEST(MoeInitRouting, Refusals) {
  const auto refused = [](const AttrTexts& attrs, const char* text) {
    EXPECT_THAT(
        [&] {
          reference_of_tensors(kInitRouting, {kRoutedTokens, kRoutedExperts}, attrs);
        },
        ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused({{"drop_pad_mode", "1"}, {"expert_num", "3"}}, "a capacity of 1 to 3");
  refused({{"drop_pad_mode", "1"}, {"expert_capacity", "2"}}, "needs experts");
  refused({{"expert_tokens_count_or_cumsum_flag", "1"}}, "needs the number of experts");
  refused({{"expert_num", "2"}}, "expert_idx[3] is 2; allowed: 0 to 1");
  EXPECT_THAT(
      [] {
        problem_with(find_op(kInitRouting), {{3, 1}, {2, 2}}, {}, kFp32);
      },
      ThrowsMessage<Error>(HasSubstr("'expert_idx' has shape 2x2; allowed: [3, ")));
}

TEST(MoeComputeExpertTokens, CountsUpToEachExpert) {
  EXPECT_THAT(agreed_values("moe_compute_expert_tokens", {{DType::int32, {4}, {0, 0, 2, 3}}},
                            {{"num_experts", "5"}}),
              ElementsAre(2, 2, 3, 4, 4));
  EXPECT_THAT(
      [] {
        agreed_values("moe_compute_expert_tokens", {{DType::int32, {1}, {8}}});
      },
      ThrowsMessage<Error>(HasSubstr("sorted_experts[0] is 8; allowed: 0 to 7")));
}

}  // namespace opbench
