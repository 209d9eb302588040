#include <gmock/gmock.h>

#include <cmath>

#include "kernels/attention.h"
#include "ops/attention.h"
#include "ops/attention_gradient.h"
#include "ops/attention_reference.h"
#include "ops/term_count.h"
#include "tensor/error.h"
#include "tests/conforms.h"
#include "tests/ops/finite_difference.h"
#include "tests/ops/values.h"

namespace opbench {

using testing::DoubleNear;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

constexpr std::string_view kName = "flash_attention_score";
constexpr double kMax = kHiddenMax, kSum = kHiddenSum;

Given fp32(const Dims& shape, std::vector<double> values) {
  return {kFp32, shape, std::move(values)};
}
Given none(DType dtype = kFp32) { return {dtype, {0}, {}}; }

/// One number of each row: statistics have eight copies.
std::vector<double> each(const std::vector<double>& copies) {
  std::vector<double> numbers;
  for (std::size_t i = 0; i < copies.size(); i += 8) numbers.push_back(copies[i]);
  return numbers;
}

Problem problem_of(const std::vector<Dims>& shapes, const AttrTexts& attrs) {
  return problem_with(find_op(kName), shapes, attrs, kFp32);
}

/// The keys that each query sees.
std::vector<std::pair<std::int64_t, std::int64_t>> seen(const Problem& problem) {
  const Attention a = attention_of(kName, problem.inputs, problem.attrs, 3);
  const std::int64_t prefix = 2;
  std::vector<const void*> inputs(problem.inputs.size(), &prefix);
  const AttentionSequence s = AttentionCall(a, inputs).sequence(0);
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  for (std::int64_t i = 0; i < a.queries; ++i) {
    const KeyRange range = a.visible(s, i);
    ranges.emplace_back(range.first, range.end);
  }
  return ranges;
}

void expect_all_conform(std::string_view op, const std::vector<Dims>& shapes,
                        const AttrTexts& attrs) {
  for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
    const Problem problem = problem_with(find_op(op), shapes, attrs, dtype);
    for (const Kernel* kernel : kernels_of(op)) EXPECT_TRUE(expect_conforms(*kernel, problem, 2));
  }
}

/// Checks a use of the operator, and that of its gradient.
void expect_both_conform(std::vector<Dims> shapes, const AttrTexts& attrs,
                         const std::vector<Dims>& optional = {}) {
  const std::vector<Dims> qkv = shapes;
  shapes.insert(shapes.end(), optional.begin(), optional.end());
  const Problem problem = problem_of(shapes, attrs);
  const Dims &out = problem.outputs[0].shape, &rows = problem.outputs[1].shape;
  std::vector<Dims> of_grad = {qkv[0], qkv[1], qkv[2], out, rows, rows, out};
  of_grad.insert(of_grad.end(), optional.begin(), optional.end());
  expect_all_conform(kName, shapes, attrs);
  expect_all_conform("flash_attention_score_grad", of_grad, attrs);
}

}  // namespace

// Scores are 0, so that shares are equal: the mean of 2 and 6, or 2 alone.
TEST(FlashAttentionScore, ByHand) {
  const std::vector<Given> qkv = {fp32({1, 1, 2, 1}, {0, 0}), fp32({1, 1, 2, 1}, {1, 2}),
                                  fp32({1, 1, 2, 1}, {2, 6})};
  const Values full = reference_of_tensors(kName, qkv);
  EXPECT_THAT(full[0], ElementsAre(4, 4));
  EXPECT_THAT(full[1], testing::SizeIs(16));
  EXPECT_THAT(full[1], Each(0));
  EXPECT_THAT(full[2], Each(2));
  const AttrTexts causal = {{"sparse_mode", "2"}};
  EXPECT_THAT(reference_of_tensors(kName, qkv, causal)[0], ElementsAre(2, 4));
  for (const Kernel* kernel : kernels_of(kName)) {
    EXPECT_THAT(kernel_on_tensors(kName, kernel->name, qkv, causal)[0], ElementsAre(2, 4));
  }
}

// The scores of the query 1 are 0 and log 3: shares 1/4 and 3/4.
TEST(FlashAttentionScore, Shares) {
  const double log3 = double(float(std::log(3)));
  const Values y = reference_of_tensors(
      kName, {fp32({1, 1, 1}, {1}), fp32({1, 2, 1}, {0, log3}), fp32({1, 2, 1}, {4, 8})},
      {{"input_layout", "BSH"}, {"head_num", "1"}});
  EXPECT_THAT(y[0], ElementsAre(DoubleNear(7, 1e-6)));
  EXPECT_THAT(each(y[1]), ElementsAre(DoubleNear(log3, 1e-9)));
  EXPECT_THAT(each(y[2]), ElementsAre(DoubleNear(4.0 / 3, 1e-6)));
}

TEST(FlashAttentionScore, HiddenRowsAreZero) {
  const std::vector<Given> given = {fp32({1, 1, 2, 1}, {1, 1}), fp32({1, 1, 2, 1}, {0, 0}),
                                    fp32({1, 1, 2, 1}, {4, 8}), none(),
                                    none(DType::uint8),         mask({2, 2}, {1, 1, 1, 0})};
  for (const Values& y :
       {reference_of_tensors(kName, given), kernel_on_tensors(kName, "native", given),
        kernel_on_tensors(kName, "flash_attention_score", given)}) {
    EXPECT_THAT(y[0], ElementsAre(0, 8));
    EXPECT_THAT(each(y[1]), ElementsAre(kMax, 0));
    EXPECT_THAT(each(y[2]), ElementsAre(kSum, 1));
  }
}

// A sink equal to the only score takes half of the share.
TEST(FlashAttentionScore, SinkHasNoValue) {
  std::vector<Given> given = {fp32({1, 1, 1, 1}, {1}), fp32({1, 1, 1, 1}, {3}),
                              fp32({1, 1, 1, 1}, {4})};
  for (int i = 0; i < 6; ++i) given.push_back(none(i == 0 ? kFp32 : DType::int64));
  given[4].dtype = given[5].dtype = DType::uint8;
  given.push_back(fp32({1}, {3}));
  for (const Values& y :
       {reference_of_tensors(kName, given), kernel_on_tensors(kName, "native", given),
        kernel_on_tensors(kName, "flash_attention_score", given)}) {
    EXPECT_THAT(y[0], ElementsAre(2));
    EXPECT_THAT(each(y[2]), ElementsAre(2));
  }
}

// Bits 0 and 2 are kept, times 1/keep.
TEST(FlashAttentionScore, DropMaskIsBits) {
  const std::vector<Given> given = {fp32({1, 1, 1, 1}, {0}),
                                    fp32({1, 1, 4, 1}, {1, 1, 1, 1}),
                                    fp32({1, 1, 4, 1}, {4, 8, 12, 16}),
                                    none(),
                                    {DType::uint8, {1}, {5}}};
  EXPECT_THAT(agreed_values(kName, given, {{"keep_prob", "0.5"}}), ElementsAre(8));
}

TEST(FlashAttentionScore, VisibleKeys) {
  const std::vector<Dims> wide = {{1, 1, 2, 1}, {1, 1, 4, 1}, {1, 1, 4, 1}};
  using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;
  EXPECT_EQ(seen(problem_of(wide, {})), (Ranges{{0, 4}, {0, 4}}));
  EXPECT_EQ(seen(problem_of(wide, {{"sparse_mode", "2"}})), (Ranges{{0, 1}, {0, 2}}));
  EXPECT_EQ(seen(problem_of(wide, {{"sparse_mode", "3"}})), (Ranges{{0, 3}, {0, 4}}));
  EXPECT_EQ(
      seen(problem_of(wide, {{"sparse_mode", "4"}, {"pre_tokens", "1"}, {"next_tokens", "0"}})),
      (Ranges{{1, 3}, {2, 4}}));
  const std::vector<Dims> tall = {{1, 1, 4, 1}, {1, 1, 3, 1}, {1, 1, 3, 1}, {0}, {0}, {0}, {1}};
  EXPECT_EQ(seen(problem_of(tall, {{"sparse_mode", "6"}})),
            (Ranges{{0, 2}, {0, 2}, {0, 2}, {0, 3}}));
}

// Totals 2, 2, 3: the second sequence is empty.
TEST(FlashAttentionScore, SequencesEndAtTotals) {
  const std::vector<Given> given = {fp32({3, 1, 1}, {0, 0, 0}),
                                    fp32({4, 1, 1}, {1, 1, 1, 1}),
                                    fp32({4, 1, 1}, {2, 6, 1, 3}),
                                    none(),
                                    none(DType::uint8),
                                    none(DType::boolean),
                                    none(DType::int64),
                                    {DType::int64, {3}, {2, 2, 3}},
                                    {DType::int64, {3}, {2, 2, 4}}};
  const AttrTexts attrs = {{"input_layout", "TND"}, {"sparse_mode", "3"}};
  EXPECT_THAT(agreed_values(kName, given, attrs), ElementsAre(2, 4, 2));
  EXPECT_THAT(kernel_on_tensors(kName, "flash_attention_score", given, attrs)[0],
              ElementsAre(2, 4, 2));
}

// Tiles have 64 queries and blocks 192 keys.
TEST(FlashAttentionScore, ConformsAroundTiles) {
  expect_both_conform({{1, 4, 65, 8}, {1, 2, 193, 8}, {1, 2, 193, 8}}, {});
  expect_both_conform({{1, 2, 200, 24}, {1, 2, 200, 24}, {1, 2, 200, 17}}, {{"sparse_mode", "2"}});
  expect_both_conform({{130, 2, 32}, {390, 2, 16}, {390, 2, 16}},
                      {{"input_layout", "SBH"}, {"head_num", "4"}, {"sparse_mode", "3"}});
  expect_both_conform({{2, 70, 2, 8}, {2, 250, 1, 8}, {2, 250, 1, 8}}, {{"input_layout", "BSND"},
                                                                        {"sparse_mode", "4"},
                                                                        {"pre_tokens", "20"},
                                                                        {"next_tokens", "-3"}});
}

TEST(FlashAttentionScore, ConformsWithOptionalInputs) {
  const std::vector<Dims> qkv = {{2, 2, 66, 8}, {2, 2, 200, 8}, {2, 2, 200, 8}};
  const Dims drop = {2 * 2 * 66 * 200 / 8};
  expect_both_conform(qkv, {{"keep_prob", "0.5"}}, {{1, 2, 66, 200}, drop, {2, 1, 66, 200}});
  expect_both_conform(qkv, {{"pse_type", "0"}}, {{2, 2, 1, 200}});
  expect_both_conform(qkv, {{"pse_type", "3"}}, {{2, 2}});
  expect_both_conform(qkv, {{"sparse_mode", "6"}}, {{0}, {0}, {0}, {2}});
  expect_both_conform(qkv, {{"sparse_mode", "2"}}, {{0}, {0}, {2048, 2048}, {0}, {0}, {0}, {2}});
  expect_both_conform({{300, 4, 8}, {300, 2, 8}, {300, 2, 8}},
                      {{"input_layout", "TND"}, {"sparse_mode", "3"}},
                      {{0}, {0}, {0}, {0}, {3}, {3}});
}

// With fewer heads of keys than threads the work is divided in another way.
TEST(FlashAttentionScore, GradientDoesNotDependOnThreads) {
  const Dims shape = {1, 1, 200, 8}, rows = {1, 1, 200, 8};
  std::vector<Given> given(7, spread(shape));
  given[4] = given[5] = {kFp32, rows, std::vector<double>(1600, 2)};
  const std::string_view op = "flash_attention_score_grad";
  EXPECT_EQ(kernel_on_tensors(op, op, given, {{"sparse_mode", "2"}, {"scale_value", "0.0625"}}, 1),
            kernel_on_tensors(op, op, given, {{"sparse_mode", "2"}, {"scale_value", "0.0625"}}, 3));
}

TEST(FlashAttentionScore, Gradients) {
  const Dims shape = {1, 2, 3, 2};
  expect_gradients({std::string(kName),
                    {spread(shape), spread({1, 1, 4, 2}, 1), spread({1, 1, 4, 2}, 2), none(),
                     none(DType::uint8), none(DType::boolean), none(DType::int64),
                     none(DType::int64), none(DType::int64), spread({2}, 3)},
                    {{"sparse_mode", "3"}, {"scale_value", "0.25"}}});
}

TEST(FlashAttentionScore, Refusals) {
  const auto refused = [](const std::vector<Dims>& shapes, const AttrTexts& attrs,
                          const std::string& why) {
    EXPECT_THAT([&] { problem_of(shapes, attrs); }, ThrowsMessage<Error>(HasSubstr(why)));
  };
  const Dims x = {1, 2, 3, 4};
  refused({{3, 4}, {3, 4}, {3, 4}}, {}, "'query' has shape 3x4; allowed: 4 axes");
  refused({{1, 3, 8}, {1, 3, 8}, {1, 3, 8}}, {{"input_layout", "BSH"}},
          "a last axis that head_num = 0 divides");
  refused({x, {1, 3, 3, 4}, {1, 3, 3, 4}}, {}, "a multiple of the heads of the key");
  refused({x, x, {1, 2, 3, 5}}, {}, "heads of the value may be smaller");
  refused({x, x, x}, {{"sparse_mode", "7"}}, "allowed: TND");
  refused({x, x, x}, {{"sparse_mode", "6"}}, "sparse_mode 6 needs 'prefix'");
  refused({x, x, x}, {{"pse_type", "2"}}, "needs 'real_shift'");
  refused({x, x, x, {0}, {0}, {3, 4}}, {}, "[1 or 1, 2 or 1, 3, 3] or [3, 3]");
  refused({x, x, x, {2, 3, 3}}, {}, "'real_shift' has shape 2x3x3");
  refused({{3, 2, 4}, {3, 2, 4}, {3, 2, 4}}, {{"input_layout", "TND"}},
          "the running totals of the sequences");
  for (const char* layout : {"BND", "BNS", "SND"}) {
    refused({x, x, x}, {{"input_layout", layout}}, "it must be one of BNSD");
  }
  refused({x, x, x}, {{"keep_prob", "0.5"}}, "keep_prob 0.5 needs 'drop_mask'");
  refused({x, x, x}, {{"keep_prob", "0"}}, "it must be greater than 0");
}

TEST(FlashAttentionScore, RefusesLengthsBeyondTheTensors) {
  const Given x = fp32({2, 1, 1}, {0, 0});
  const auto totals = [](double first, double last) {
    return Given{DType::int64, {2}, {first, last}};
  };
  const auto refused = [&](const Given& queries, const std::string& why) {
    EXPECT_THAT(
        [&] {
          reference_of_tensors(kName,
                               {x, x, x, none(), none(DType::uint8), none(DType::boolean),
                                none(DType::int64), queries, totals(1, 2)},
                               {{"input_layout", "TND"}});
        },
        ThrowsMessage<Error>(HasSubstr(why)));
  };
  refused(totals(1, 3), "'actual_seq_qlen' has 3 after 1");
  refused(totals(2, 1), "'actual_seq_qlen' has 1 after 2");
}

// Two sequences of 3 queries and keys with one head have 18 pairs.
TEST(FlashAttentionScore, RefusesSmallOptionalInputsOfPackedSequences) {
  const Given x = fp32({6, 1, 1}, std::vector<double>(6)), ends{DType::int64, {2}, {3, 6}};
  const auto refused = [&](const Given& drop, const Given& prefix, const std::string& why) {
    EXPECT_THAT(
        [&] {
          reference_of_tensors(kName,
                               {x, x, x, none(), drop, none(DType::boolean), prefix, ends, ends},
                               {{"input_layout", "TND"}, {"sparse_mode", "5"}});
        },
        ThrowsMessage<Error>(HasSubstr(why)));
  };
  refused({DType::uint8, {2}, {0, 0}}, none(DType::int64), "'drop_mask' has shape 2; allowed: 3");
  refused(none(DType::uint8), {DType::int64, {1}, {0}}, "'prefix' has shape 1; allowed: [2]");
}

// The rows of the profile of a training step: SBH by the first axis of the query, causal by the
// compressed mask.
TEST(FlashAttentionScore, LikelyLayouts) {
  const auto likely = [](const Dims& query, const Dims& statistics, const Shapes& more) {
    return likely_of_attention(query, statistics, more);
  };
  const NamedNumbers sbh{{"head_num", {16}}, {"input_layout", {3}}, {"sparse_mode", {2}}};
  EXPECT_THAT(likely({4096, 1, 2048}, {1, 16, 4096, 8}, {{2048, 2048}}), ElementsAre(sbh));
  const NamedNumbers bsh{{"head_num", {2}}, {"input_layout", {2}}};
  EXPECT_THAT(likely({3, 5, 8}, {3, 2, 5, 8}, {}), ElementsAre(bsh));
  EXPECT_EQ(likely({1, 4, 9, 8}, {1, 4, 9, 8}, {})[0].at("input_layout")[0], 0);
  EXPECT_EQ(likely({1, 9, 4, 8}, {1, 4, 9, 8}, {})[0].at("input_layout")[0], 1);
  EXPECT_EQ(likely({9, 4, 8}, {9, 4, 8}, {{2048, 2048}})[0].at("sparse_mode")[0], 3);
}

TEST(FlashAttentionScore, GradientHasATensorForEachOutput) {
  const Problem problem = problem_of({{1, 4, 3, 8}, {1, 2, 5, 8}, {1, 2, 5, 6}}, {});
  const Attention a = attention_of(kName, problem.inputs, problem.attrs, 3);
  EXPECT_EQ(tensor_of(a, 0).rows, 3);
  EXPECT_EQ(tensor_of(a, 1).heads, 2);
  EXPECT_EQ(tensor_of(a, 2).size, 6);
  EXPECT_EQ(tensor_of(a, 3).heads, 4);
}

// A causal product of 2 queries and keys has 3 of 4 pairs, for 2 heads.
TEST(FlashAttentionScore, OperationsOfVisiblePairs) {
  const std::vector<Dims> qkv(3, Dims{1, 2, 2, 4});
  const auto operations = [&](const AttrTexts& attrs) {
    const Problem problem = problem_of(qkv, attrs);
    return problem.op->traffic(problem).operations;
  };
  EXPECT_EQ(operations({}), 2 * 2 * 4 * 8);
  EXPECT_EQ(operations({{"sparse_mode", "2"}}), 2 * 2 * 3 * 8);
  const Problem problem = problem_of(qkv, {});
  EXPECT_EQ(terms_of_element(problem, 0), 8);
  EXPECT_EQ(weight_of_rounded_operands(problem, 0), 0);
}

TEST(FlashAttentionScore, DotProducts) {
  const std::vector<double> a(11, 2), b(11, -3);
  EXPECT_EQ(dot(a.data(), b.data(), 11), -66);
  EXPECT_EQ(dot_of_magnitudes(a.data(), b.data(), 11), 66);
}

TEST(FlashAttentionScore, RangesOfKeys) {
  const KeyRange both = common({2, 7}, {5, 9}), apart = common({0, 2}, {4, 6});
  EXPECT_EQ(both.first, 5);
  EXPECT_EQ(both.count(), 2);
  EXPECT_EQ(apart.count(), 0);
}

}  // namespace opbench
