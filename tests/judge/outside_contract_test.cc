#include "judge/outside_contract.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness/plan/case_graph.h"
#include "harness/plan/selection.h"
#include "harness/run/item_runner.h"
#include "tests/evaluate.h"

namespace opbench {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity(), kNaN = NAN;

Kernel kernel_that_takes(InputRange range) {
  return {.op = "", .name = "", .summary = "", .prepare = nullptr, .takes = range};
}

// How a result is judged of a kernel that takes `range`.
Verdict judged(InputRange range, const Problem& problem,
               const std::vector<std::vector<float>>& inputs, const std::vector<float>& result) {
  const Kernel kernel = kernel_that_takes(range);
  CallToJudge call{problem, kernel, {}, {result.data()}};
  for (const std::vector<float>& input : inputs) call.inputs.push_back(input.data());
  return judge_output(call, 0).judgement.verdict;
}

Problem of(std::string_view op, const std::vector<Dims>& shapes, const AttrTexts& attrs = {}) {
  return problem_with(find_op(op), shapes, attrs, DType::fp32, Format::ND);
}

}  // namespace

TEST(OutsideContract, RangesOfInputs) {
  EXPECT_TRUE(is_inside(InputRange::any, DType::fp16, kNaN));
  EXPECT_FALSE(is_inside(InputRange::finite, DType::fp16, -kInf));
  EXPECT_TRUE(is_inside(InputRange::finite, DType::fp16, 0x1p-20));
  EXPECT_FALSE(is_inside(InputRange::normal, DType::fp16, 0x1p-20));
  EXPECT_TRUE(is_inside(InputRange::normal, DType::bf16, 0x1p-20));
  EXPECT_TRUE(is_inside(InputRange::normal, DType::fp32, -0.0));
}

TEST(OutsideContract, ElementsAtTheirPlaceAreNotHeldAgainstIt) {
  const Problem relu = of("relu", {{4}});
  const std::vector<std::vector<float>> x = {{1, kNaN, 3, 4}};
  EXPECT_EQ(judged(InputRange::finite, relu, x, {1, 7, 3, 4}), Verdict::passed);
  EXPECT_EQ(judged(InputRange::any, relu, x, {1, 7, 3, 4}), Verdict::failed);
  EXPECT_EQ(judged(InputRange::finite, relu, x, {1, 7, 3, 5}), Verdict::failed) << "others are";
}

// 0 whatever x is, but 0 * NaN of the mask is none.
TEST(OutsideContract, ElementsThatDoNotFollowTheValue) {
  const Problem grad = of("relu_grad", {{4}, {4}});
  const std::vector<std::vector<float>> inputs = {{0, 2, 3, 4}, {kNaN, 1, 1, 1}};
  EXPECT_EQ(judged(InputRange::finite, grad, inputs, {kNaN, 2, 3, 4}), Verdict::passed);
  EXPECT_EQ(judged(InputRange::any, grad, inputs, {kNaN, 2, 3, 4}), Verdict::failed);
}

// Two rows by two columns: the first row has an Inf.
TEST(OutsideContract, SumsThatAValueIsPartOf) {
  const Problem product = of("matmul", {{2, 2}, {2, 2}});
  const std::vector<std::vector<float>> inputs = {{kInf, 1, 2, 3}, {1, 1, 1, 2}};
  EXPECT_EQ(judged(InputRange::finite, product, inputs, {0, 0, 5, 8}), Verdict::passed);
  EXPECT_EQ(judged(InputRange::finite, product, inputs, {0, 0, 5, 9}), Verdict::failed);
}

// A known limit excuses what fails there, and nothing else.
TEST(OutsideContract, TheReasonOfAKnownLimit) {
  const auto reason = [](const std::vector<float>& result) {
    const Problem grad = of("softplus_grad", {{3}, {3}});
    const std::vector<std::vector<float>> inputs = {{2, 3, 4}, {0, 100, kInf}};
    const auto is_large = [](const Problem&, std::size_t input, double value) {
      return input == 1 && value > 88;
    };
    const Kernel kernel{.op = "",
                        .name = "",
                        .summary = "",
                        .prepare = nullptr,
                        .limit = {is_large, "as the device"}};
    const CallToJudge what{grad, kernel, {inputs[0].data(), inputs[1].data()}, {result.data()}};
    EXPECT_EQ(judge_output(what, 0).judgement.verdict, Verdict::failed);
    return reason_of_limit(what, 0);
  };
  EXPECT_EQ(reason({1, kNaN, kNaN}), "as the device");
  EXPECT_EQ(reason({1, 3, 5}), "as the device") << "any value";
  EXPECT_EQ(reason({kNaN, kNaN, kNaN}), "") << "0 is inside of the limit";
}

// Each of these fails where its values are held against it.
TEST(OutsideContract, VariantsPassOnSpecialValues) {
  for (const char* id :
       {"softplus[3,fp32,ND,data=special]", "exp[8,fp32,ND,data=special]",
        "relu[12,fp32,ND,data=special]", "relu_grad[12,12,fp32,ND,data=special]",
        "max_pool2d[2x3x8x8,fp32,NCHW,data=special]", "max_pool2d[2x3x8x8,bf16,NCHW,seed=1]"}) {
    for (const Kernel* kernel : kernels_of(parse_case_id(id).op->name)) {
      PlannedCase planned{parse_case_id(id), {}, {}};
      planned.graph = build_graph(planned.spec);
      planned.variants = {select_kernels(planned.graph, *kernel)};
      RunOptions options;
      options.seconds_per_case = 0.0005;
      options.repetitions = 1;
      PhaseTimes times;
      const Record record = run_item(make_item(planned), options, 1, {}, times).at(0);
      EXPECT_NE(record.status, Status::failed) << id << " " << kernel->name << record.reason;
    }
  }
}

}  // namespace opbench
