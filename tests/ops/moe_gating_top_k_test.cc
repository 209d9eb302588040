#include <gmock/gmock.h>

#include <cmath>

#include "judge/judge_output.h"
#include "tensor/error.h"
#include "tests/ops/values.h"

namespace opbench {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::string_view kSoftmaxGate = "moe_gating_top_k_softmax",
                           kGroupedGate = "moe_gating_top_k";

auto near_share(double value) { return DoubleNear(value, 1e-6); }

Given gate_input(const Dims& shape, std::vector<double> values) {
  return {kFp32, shape, std::move(values)};
}

const double kLn2 = std::log(2.0), kLn3 = std::log(3.0);

// The verdict on outputs that a device returned.
Verdict verdict_on_gate(std::string_view op, const std::vector<Given>& given,
                        const AttrTexts& attrs, const std::vector<std::vector<double>>& outputs,
                        std::size_t output) {
  std::vector<Dims> shapes;
  for (const Given& g : given) shapes.push_back(g.shape);
  const Problem problem = problem_with(find_op(op), shapes, attrs, kFp32);
  std::vector<Tensor> tensors;
  CallToJudge call{.problem = problem};
  const auto add = [&](const TensorDesc& desc, const std::vector<double>& values) {
    Tensor tensor(desc);
    from_doubles(desc.dtype, values.data(), desc.elements(), tensor.data());
    tensors.push_back(std::move(tensor));
    return static_cast<const void*>(tensors.back().data());
  };
  for (std::size_t i = 0; i < given.size(); ++i) {
    call.inputs.push_back(add(problem.inputs[i], given[i].values));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    call.outputs.push_back(add(problem.outputs[i], outputs[i]));
  }
  return judge_output(call, output).judgement.verdict;
}

}  // namespace

// exp(x) is 1, 3, 2, 3 and 3, 1, 1, 1 with the sums 9 and 6. Equal shares: the lower expert first.
TEST(MoeGatingTopKSoftmax, ByHand) {
  const Given x = gate_input({2, 4}, {0, kLn3, kLn2, kLn3, kLn3, 0, 0, 0});
  for (const char* variant : {"native", "moe_gating_top_k_softmax"}) {
    const Values y = kernel_on_tensors(kSoftmaxGate, variant, {x}, {{"k", "2"}});
    EXPECT_THAT(y[0], ElementsAre(near_share(3 / 9.0), near_share(3 / 9.0), near_share(0.5),
                                  near_share(1 / 6.0)));
    EXPECT_THAT(y[1], ElementsAre(1, 3, 0, 1));
    EXPECT_THAT(y[2], ElementsAre(0, 2, 1, 3)) << "j*tokens + t";
  }
  const Values y = reference_of_tensors(kSoftmaxGate, {x}, {{"k", "2"}, {"renorm", "1"}});
  EXPECT_THAT(y[0],
              ElementsAre(near_share(0.5), near_share(0.5), near_share(0.75), near_share(0.25)));
}

TEST(MoeGatingTopKSoftmax, FinishedTokensHaveNoExpert) {
  const Given x = gate_input({2, 2}, {0, 1, 0, 1});
  const Values y = kernel_on_tensors(kSoftmaxGate, "native", {x, mask({2}, {0, 1})});
  EXPECT_EQ(y, kernel_on_tensors(kSoftmaxGate, "moe_gating_top_k_softmax", {x, mask({2}, {0, 1})}));
  EXPECT_THAT(y[1], ElementsAre(1, 2));
  EXPECT_EQ(y[0][0], y[0][1]);
}

// sigmoid(0, ln 2, -ln 2, ln 3) = 1/2, 2/3, 1/3, 3/4. The bias selects experts and has no share.
TEST(MoeGatingTopK, SigmoidWithBias) {
  const Given x = gate_input({1, 4}, {0, kLn2, -kLn2, kLn3}), bias = gate_input({4}, {0, 0, 2, 0});
  const AttrTexts attrs = {
      {"k", "2"}, {"norm_type", "1"}, {"routed_scaling_factor", "2.5"}, {"out_flag", "true"}};
  for (const char* variant : {"native", "moe_gating_top_k"}) {
    const Values y = kernel_on_tensors(kGroupedGate, variant, {x, bias}, attrs);
    EXPECT_THAT(y[0], ElementsAre(near_share(2.5 * 4 / 13), near_share(2.5 * 9 / 13)));
    EXPECT_THAT(y[1], ElementsAre(2, 3));
    EXPECT_THAT(y[2], ElementsAre(near_share(0.5), near_share(2 / 3.0), near_share(1 / 3.0),
                                  near_share(0.75)));
  }
}

// Groups (3, 0), (2, 2) and (1, 1): by its best expert the first wins, by its best two the second.
TEST(MoeGatingTopK, GroupsCountAsTheirBestExperts) {
  const Given x = gate_input({1, 6}, {3, 0, 2, 2, 1, 1});
  AttrTexts attrs = {{"k", "2"}, {"norm_type", "1"}, {"group_count", "3"}};
  EXPECT_THAT(reference_of_tensors(kGroupedGate, {x}, attrs)[1], ElementsAre(0, 1));
  EXPECT_THAT(kernel_on_tensors(kGroupedGate, "native", {x}, attrs)[1], ElementsAre(0, 1));
  attrs["group_select_mode"] = "1";
  EXPECT_THAT(reference_of_tensors(kGroupedGate, {x}, attrs)[1], ElementsAre(2, 3));
  EXPECT_THAT(kernel_on_tensors(kGroupedGate, "moe_gating_top_k", {x}, attrs)[1],
              ElementsAre(2, 3));
}

// Experts 0 and 1 are as good as each other but have other shares, since the bias differs.
TEST(MoeGatingTopK, SharesAreThoseOfTheChosenExperts) {
  const double share = 1 / (1 + std::exp(-1.0));
  const std::vector<Given> inputs = {gate_input({1, 3}, {0, 1, -5}),
                                     gate_input({3}, {share - 0.5 + 1e-8, 0, 0})};
  const AttrTexts attrs = {{"norm_type", "1"}, {"routed_scaling_factor", "2"}};
  for (const double expert : {0.0, 1.0}) {
    EXPECT_EQ(verdict_on_gate(kGroupedGate, inputs, attrs, {{2}, {expert}}, 1), Verdict::passed);
    EXPECT_EQ(verdict_on_gate(kGroupedGate, inputs, attrs, {{2}, {expert}}, 0), Verdict::passed);
  }
  EXPECT_EQ(verdict_on_gate(kGroupedGate, inputs, attrs, {{2}, {2}}, 1), Verdict::failed);
  EXPECT_EQ(verdict_on_gate(kGroupedGate, inputs, attrs, {{2}, {3}}, 1), Verdict::failed)
      << "no expert";
}

// Groups (1, 0) and (1, 0.5) are equal by their best experts: either is right, but not both.
TEST(MoeGatingTopK, AnyOfEqualGroupsIsRight) {
  const std::vector<Given> x = {gate_input({1, 4}, {1, 0, 1, 0.5})};
  const AttrTexts attrs = {{"k", "2"}, {"norm_type", "1"}, {"group_count", "2"}};
  const auto sigmoid = [](double value) { return 1 / (1 + std::exp(-value)); };
  for (const double other : {0.0, 0.5}) {
    const double sum = sigmoid(1) + sigmoid(other), first = other == 0 ? 0 : 2;
    const Values outputs = {{sigmoid(1) / sum, sigmoid(other) / sum}, {first, first + 1}};
    EXPECT_EQ(verdict_on_gate(kGroupedGate, x, attrs, outputs, 0), Verdict::passed);
    EXPECT_EQ(verdict_on_gate(kGroupedGate, x, attrs, outputs, 1), Verdict::passed);
  }
  EXPECT_EQ(verdict_on_gate(kGroupedGate, x, attrs, {{0.5, 0.5}, {0, 2}}, 1), Verdict::failed);
}

// Groups (1, 0) and (1 + 2^-23, 0.5): rounding may exchange them.
TEST(MoeGatingTopK, AnyOfNearlyEqualGroupsIsRight) {
  const std::vector<Given> x = {gate_input({1, 4}, {1, 0, 1 + 0x1p-23, 0.5})};
  const AttrTexts attrs = {{"k", "2"}, {"norm_type", "1"}, {"group_count", "2"}};
  for (const double first : {0.0, 2.0}) {
    EXPECT_EQ(verdict_on_gate(kGroupedGate, x, attrs, {{0.5, 0.5}, {first, first + 1}}, 1),
              Verdict::passed);
  }
  const std::vector<Given> other = {gate_input({1, 4}, {1, 0, 1.001, 0.5})};
  EXPECT_EQ(verdict_on_gate(kGroupedGate, other, attrs, {{0.5, 0.5}, {0, 1}}, 1), Verdict::failed);
}

// Shares of softmax are 0.25 each, and 0.2 for another expert.
TEST(MoeGatingTopKSoftmax, AnyOfEqualExpertsIsRight) {
  const std::vector<Given> x = {gate_input({1, 4}, {1, 1, 1, 0.5})};
  const AttrTexts attrs = {{"k", "2"}};
  const double share = 1 / (3 + std::exp(-0.5));
  EXPECT_EQ(verdict_on_gate(kSoftmaxGate, x, attrs, {{share, share}, {2, 0}, {0, 1}}, 1),
            Verdict::passed);
  EXPECT_EQ(verdict_on_gate(kSoftmaxGate, x, attrs, {{share, share}, {2, 2}, {0, 1}}, 1),
            Verdict::failed);
  EXPECT_EQ(verdict_on_gate(kSoftmaxGate, x, attrs, {{share, share}, {2, 3}, {0, 1}}, 1),
            Verdict::failed);
  EXPECT_EQ(verdict_on_gate(kSoftmaxGate, x, attrs, {{share, share}, {2, 3}, {0, 1}}, 0),
            Verdict::failed)
      << "the share of expert 3 is smaller";
}

// From 33 experts on, variants sort.
TEST(MoeGatingTopK, ManyExpertsOfAToken) {
  std::vector<double> x;
  for (int e = 0; e < 50; ++e) x.push_back(e * 7 % 50);
  const std::vector<Given> inputs = {gate_input({1, 50}, x)};
  for (const char* k : {"32", "33"}) {
    EXPECT_EQ(kernel_on_tensors(kSoftmaxGate, "native", inputs, {{"k", k}})[1],
              reference_of_tensors(kSoftmaxGate, inputs, {{"k", k}})[1]);
  }
}

TEST(MoeGatingTopK, Refusals) {
  const auto refused = [](std::string_view op, const std::vector<Dims>& shapes,
                          const AttrTexts& attrs, const char* text) {
    EXPECT_THAT([&] { problem_with(find_op(op), shapes, attrs, kFp32); },
                ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused(kGroupedGate, {{2, 4}}, {{"k", "5"}}, "k is 5 for 'x' of shape 2x4; allowed: 1 to 4");
  refused(kGroupedGate, {{2, 4}}, {{"group_count", "3"}}, "allowed: groups of equal size");
  refused(kGroupedGate, {{2, 4}}, {{"group_count", "4"}, {"group_select_mode", "1"}},
          "two experts each");
  refused(kGroupedGate, {{2, 4}}, {{"group_count", "4"}, {"k", "2"}}, "allowed: 1 to 1");
  refused(kGroupedGate, {{2, 4}, {3}}, {}, "'bias' has shape 3; allowed: 4");
  refused(kGroupedGate, {{4}}, {}, "allowed: [tokens, experts]");
  refused(kSoftmaxGate, {{2, 4}, {3}}, {}, "'finished' has shape 3");
}

}  // namespace opbench
