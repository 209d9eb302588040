#include "judge/outside_contract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/plan/case_graph.h"
#include "harness/plan/selected_kernels.h"
#include "harness/run/unit_runner.h"
#include "kernels/kernel.h"
#include "tests/evaluate.h"
#include "tests/support/non_finite.h"

namespace opbench {
namespace {

Record run_first(const Kernel& kernel, const std::string& id) {
  PlannedCase planned{parse_case_id(id), {}, {}};
  planned.graph = build_graph(planned.spec);
  planned.variants = {select_kernels(planned.graph, kernel)};
  RunOptions options;
  options.seconds_per_case = 0.0005;
  options.repetitions = 1;
  PhaseTimes times;
  return run_work_unit(planned, options, 1, {}, times).at(0);
}

void expect_none_failed(const std::string& id) {
  const Case parsed = parse_case_id(id);
  for (const Kernel* kernel : kernels_of(parsed.op->name)) {
    for (int seed = 1; seed <= 8; ++seed) {
      const std::string seeded =
          id.substr(0, id.size() - 1) + ",seed=" + std::to_string(seed) + "]";
      const Record record = run_first(*kernel, seeded);
      EXPECT_NE(record.status, Status::failed)
          << seeded << " " << kernel->name << ": " << record.reason;
    }
  }
}

Kernel kernel_that_takes(InputRange range) {
  return {.op = "", .name = "", .summary = "", .prepare = nullptr, .takes = range};
}

// The verdict on a result of a kernel that takes `range`.
Verdict verdict_of(InputRange range, const Problem& problem,
                   const std::vector<std::vector<float>>& inputs,
                   const std::vector<float>& result) {
  const Kernel kernel = kernel_that_takes(range);
  CallToJudge call = call_of(problem, kernel, false);
  call.outputs = {result.data()};
  for (const std::vector<float>& input : inputs) call.inputs.push_back(input.data());
  return judge_output(call, 0).judgement.verdict;
}

Problem of(std::string_view op, const std::vector<Dims>& shapes, const AttrTexts& attrs = {}) {
  return problem_with(find_op(op), shapes, attrs, DType::fp32, Format::ND);
}

}  // namespace

// Correct kernels have failed on each of these with some seeds, PyTorch's kernels included.
TEST(OneRule, NoHonestKernelFails) {
  for (const char* id :
       {"cross_entropy[1x3,1,fp32,ND]",
        "cross_entropy[1x10,1,fp32,ND]",
        "cross_entropy[1x3,1,bf16,ND]",
        "cross_entropy_grad[scalar,2x2,2,fp32,ND,data.self=uniform(-50,50)]",
        "sgd[1000,1000,1000,fp32,ND,nesterov=true]",
        "sgd[1000,1000,1000,fp16,ND,nesterov=true]",
        "index_add[10x64,640,640x64,fp16,ND]",
        "index_add[10x64,100,100x64,bf16,ND]",
        "div_grad_other[64x64,64x64,64x64,fp32,ND,value=2]",
        "div_grad_other[64x64,64x64,64x64,bf16,ND]",
        "pow_grad[64x64,64x64,fp32,ND,exponent=1.5]",
        "addcmul[64x64,64x64,64x64,fp32,ND,value=2]",
        "axpy[scalar,1x17x1x1,bf16,NCHW,alpha=3.3,data=uniform(-100,100)]",
        "gelu_grad[64x64,64x64,fp32,ND,data.self=uniform(-0.755,-0.748)]",
        "gelu_grad[64x64,64x64,fp32,ND,approximate=tanh,data.self=uniform(-0.755,-0.748)]",
        "pairwise_iou[2x4,5x4,fp32,ND]",
        "softmax[64x1000,fp32,ND,backward,data=normal(0,5)]",
        "softmax[64x1000,bf16,ND,backward,data=normal(0,20)]",
        "softmax[64x1000,fp32,ND,data=normal(0,30)]",
        "batch_norm[8x9,9,9,9,9,fp32,ND,backward,data=normal(10000,1)]",
        "gelu_grad[5x17,5x17,fp32,ND,data=normal(0,8)]",
        "sigmoid_grad[8x9,8x9,fp32,ND,data=normal(0,1)]"}) {
    expect_none_failed(id);
  }
}

// PyTorch's kernels overflow and cancel at the same places.
TEST(OneRule, NoHonestKernelFailsOfExtremes) {
  for (const char* id :
       {"sum_to_size[4x3x5,fp32,ND,size=[3,1],data=special]",
        "global_avg_pool2d[2x3x3x3,fp16,NCHW,data=special]",
        "layer_norm[8x9,9,9,fp32,ND,data=special]", "batch_norm[8x9,9,9,9,9,fp32,ND,data=special]",
        "softmax_grad[8x9,8x9,fp32,ND,data=special]", "tanh_grad[50,50,fp32,ND,data=special]",
        "sgd[77,77,77,fp32,ND,nesterov=true,first_step=true,data=special]",
        "conv2d_grad_input[2x16x14x14,16x16x3x3,fp32,NCHW,padding=[1],input_size=[14,14],data."
        "weight=special]",
        "sgd[77,77,77,fp16,ND,dampening=0.5,sizes=[3,50,1,23],data=special]"}) {
    expect_none_failed(id);
  }
}

TEST(OutsideContract, RangesOfInputs) {
  EXPECT_TRUE(is_inside(InputRange::any, DType::fp16, kNan));
  EXPECT_FALSE(is_inside(InputRange::finite, DType::fp16, -kInf));
  EXPECT_TRUE(is_inside(InputRange::finite, DType::fp16, 0x1p-20));
  EXPECT_FALSE(is_inside(InputRange::normal, DType::fp16, 0x1p-20));
  EXPECT_TRUE(is_inside(InputRange::normal, DType::bf16, 0x1p-20));
  EXPECT_TRUE(is_inside(InputRange::normal, DType::fp32, -0.0));
}

TEST(OutsideContract, ElementsAtTheirPlaceAreNotHeldAgainstIt) {
  const Problem relu = of("relu", {{4}});
  const std::vector<std::vector<float>> x = {{1, kNan, 3, 4}};
  EXPECT_EQ(verdict_of(InputRange::finite, relu, x, {1, 7, 3, 4}), Verdict::passed);
  EXPECT_EQ(verdict_of(InputRange::any, relu, x, {1, 7, 3, 4}), Verdict::failed);
  EXPECT_EQ(verdict_of(InputRange::finite, relu, x, {1, 7, 3, 5}), Verdict::failed) << "others are";
}

// The gradient is 0 for every x, but a mask that computes 0 * NaN gives NaN.
TEST(OutsideContract, ElementsThatDoNotFollowTheValue) {
  const Problem grad = of("relu_grad", {{4}, {4}});
  const std::vector<std::vector<float>> inputs = {{0, 2, 3, 4}, {kNan, 1, 1, 1}};
  EXPECT_EQ(verdict_of(InputRange::finite, grad, inputs, {kNan, 2, 3, 4}), Verdict::passed);
  EXPECT_EQ(verdict_of(InputRange::any, grad, inputs, {kNan, 2, 3, 4}), Verdict::failed);
}

// Two rows by two columns. The first row contains an Inf.
TEST(OutsideContract, SumsThatAValueIsPartOf) {
  const Problem product = of("matmul", {{2, 2}, {2, 2}});
  const std::vector<std::vector<float>> inputs = {{kInf, 1, 2, 3}, {1, 1, 1, 2}};
  EXPECT_EQ(verdict_of(InputRange::finite, product, inputs, {0, 0, 5, 8}), Verdict::passed);
  EXPECT_EQ(verdict_of(InputRange::finite, product, inputs, {0, 0, 5, 9}), Verdict::failed);
}

// A known limit excuses only the failures that it describes.
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
    CallToJudge what = call_of(grad, kernel, false);
    what.inputs = {inputs[0].data(), inputs[1].data()};
    what.outputs = {result.data()};
    EXPECT_EQ(judge_output(what, 0).judgement.verdict, Verdict::failed);
    return reason_of_limit(what, 0);
  };
  EXPECT_EQ(reason({1, kNan, kNan}), "as the device");
  EXPECT_EQ(reason({1, 3, 5}), "as the device") << "any value";
  EXPECT_EQ(reason({kNan, kNan, kNan}), "") << "0 is inside of the limit";
}

// Each case has a variant that would fail if its special values were compared with the reference.
TEST(OutsideContract, VariantsPassOnSpecialValues) {
  for (const char* id :
       {"softplus[3,fp32,ND,data=special]", "exp[8,fp32,ND,data=special]",
        "relu[12,fp32,ND,data=special]", "relu_grad[12,12,fp32,ND,data=special]",
        "max_pool2d[2x3x8x8,fp32,NCHW,data=special]", "max_pool2d[2x3x8x8,bf16,NCHW,seed=1]"}) {
    for (const Kernel* kernel : kernels_of(parse_case_id(id).op->name)) {
      const Record record = run_first(*kernel, id);
      EXPECT_NE(record.status, Status::failed) << id << " " << kernel->name << record.reason;
    }
  }
}

}  // namespace opbench
