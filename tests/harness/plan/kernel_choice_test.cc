#include "harness/plan/kernel_choice.h"

#include <gmock/gmock.h>

#include "tests/evaluate.h"

namespace opbench {
namespace {

using testing::ElementsAre;

using Names = std::vector<std::string>;

/// Names of the candidate kernels, in order.
Names tried(const Problem& problem, const Variants& variants = {},
            const FrameworkRules& rules = {}) {
  Names names;
  for (const Kernel* kernel : KernelChoice(variants, rules).candidates(problem)) {
    names.emplace_back(kernel->name);
  }
  return names;
}

Problem softplus(const AttrTexts& attrs = {}) {
  return problem_with(find_op("softplus"), {{2, 16, 4, 4}}, attrs, DType::fp32);
}

}  // namespace

TEST(KernelChoice, TakesWhatIsNamedInThatOrder) {
  EXPECT_THAT(tried(softplus(), {{"softplus", {"native", "softplus_v2"}}}),
              ElementsAre("native", "softplus_v2"));
  EXPECT_THAT(tried(softplus(), {{"softplus", {"softplus_v2", "native"}}}),
              ElementsAre("softplus_v2", "native"));
  EXPECT_THAT(tried(softplus(), {{"softplus", {"reference"}}}), ElementsAre("reference"));
}

// The entry is for another operator: softplus keeps the default.
TEST(KernelChoice, ByDefaultTheDeviceComesBeforeTheFramework) {
  const Names names = tried(softplus(), {{"relu", {"native"}}});
  ASSERT_GE(names.size(), 2u);
  EXPECT_EQ(names.back(), "native");
  EXPECT_THAT(names, testing::Not(testing::Contains("onednn")));
}

TEST(KernelChoice, ADefaultIsAProvider) {
  EXPECT_EQ(tried(softplus(), {{"default", {"native"}}}).front(), "native");
  EXPECT_THAT(tried(softplus(), {{"default", {"reference"}}}), ElementsAre("reference"));
}

TEST(KernelChoice, AShuffleIsViewsAndACopyBeforeTuning) {
  const Problem problem =
      problem_with(find_op("channel_shuffle"), {{1, 4, 2, 2}}, {{"groups", "2"}}, DType::fp32);
  EXPECT_EQ(tried(problem).front(), "native");
}

TEST(KernelChoice, ViewsAreMadeDenseByTheRule) {
  const Op& contiguous = find_op("contiguous");
  const Problem problem = problem_with(contiguous, {{4, 4}}, {}, DType::fp32);
  FrameworkRules rules;
  rules.contiguous = FrameworkRules::Contiguous::native;
  EXPECT_THAT(tried(problem, {}, rules), ElementsAre("native"));
  rules.contiguous = FrameworkRules::Contiguous::gather_v2;
  EXPECT_THAT(tried(problem, {}, rules), ElementsAre("gather_v2", "as_strided"));
}

TEST(KernelChoice, DepthwiseConvolutionsTryTheKernelMadeForThem) {
  const Op& conv2d = find_op("conv2d");
  const Problem depthwise =
      problem_with(conv2d, {{1, 16, 4, 4}, {16, 1, 1, 1}}, {{"groups", "16"}}, DType::fp16);
  const Problem plain = problem_with(conv2d, {{1, 16, 4, 4}, {16, 16, 1, 1}}, {}, DType::fp16);
  EXPECT_EQ(tried(depthwise).front(), "depthwise_conv2d");
  EXPECT_NE(tried(plain).front(), "depthwise_conv2d");
}

// The device's Softplus does not take beta.
TEST(KernelChoice, TheFirstThatTakesTheProblem) {
  const Variants variants = {{"softplus", {"softplus", "native"}}};
  const FrameworkRules rules;
  KernelChoice choice(variants, rules);
  EXPECT_EQ(choice.first_that_takes(softplus())->name, "softplus");
  EXPECT_EQ(choice.first_that_takes(softplus({{"beta", "2"}}))->name, "native");
  const Variants only = {{"softplus", {"softplus"}}};
  EXPECT_EQ(KernelChoice(only, rules).first_that_takes(softplus({{"beta", "2"}})), nullptr);
}

}  // namespace opbench
