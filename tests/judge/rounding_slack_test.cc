#include "judge/rounding_slack.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "harness/plan/case_graph.h"
#include "harness/plan/selection.h"
#include "harness/run/item_runner.h"
#include "kernels/kernel.h"
#include "ops/reduce_all.h"

namespace opbench {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// What is left of `actual` where every element has these intermediate results.
double left(double actual, double expected, double rounding, double greatest,
            DType dtype = DType::fp32) {
  const RoundingSlack slack(constant_reference(expected),
                            {constant_reference(rounding), constant_reference(greatest)}, dtype);
  auto a = static_cast<float>(actual);
  const auto e = static_cast<float>(expected);
  slack.forgive(0, {0, 1}, DType::fp32, &e, &a);
  return double(a);
}

Record run_first(const Kernel& kernel, const std::string& id) {
  PlannedCase planned{parse_case_id(id), {}, {}};
  planned.graph = build_graph(planned.spec);
  planned.variants = {select_kernels(planned.graph, kernel)};
  RunOptions options;
  options.seconds_per_case = 0.0005;
  options.repetitions = 1;
  PhaseTimes times;
  return run_item(make_item(planned), options, 1, {}, times).at(0);
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

}  // namespace

TEST(RoundingSlack, FourRoundoffsOfTheIntermediates) {
  EXPECT_EQ(left(1e-6 + 0x1p-22, 1e-6, 1.01, 0), static_cast<float>(1e-6));
  EXPECT_NE(left(1e-6 + 0x1p-21, 1e-6, 1.01, 0), static_cast<float>(1e-6));
  EXPECT_EQ(left(0x1p-9, 0, 1, 0, DType::fp16), 0) << "of the dtype that the kernel computes in";
}

TEST(RoundingSlack, InfWhereAnIntermediateLeavesTheDType) {
  EXPECT_EQ(left(kInf, 2, 0, 5e38), 2);
  EXPECT_EQ(left(kInf, 2, 0, 3e38), kInf);
  EXPECT_TRUE(std::isnan(left(NAN, 2, 0, 3e38)));
  EXPECT_EQ(left(NAN, 2, 0, 70000, DType::fp16), 2);
  EXPECT_EQ(left(3, 2, 0, 5e38), 3) << "a finite number is wrong still";
}

// Sums of fp16 values are held in fp32: there is no excuse for one that is not.
TEST(RoundingSlack, HeldInFp32) {
  const auto left_of = [](double actual, double rounding, double greatest) {
    const Intermediates held{constant_reference(rounding), constant_reference(greatest), true};
    const RoundingSlack slack(constant_reference(0), held, DType::fp16);
    auto a = static_cast<float>(actual);
    const float zero = 0;
    slack.forgive(0, {0, 1}, DType::fp32, &zero, &a);
    return double(a);
  };
  EXPECT_EQ(left_of(0x1p-22, 1.01, 0), 0);
  EXPECT_EQ(left_of(0x1p-12, 1.01, 0), 0x1p-12) << "within the roundoff of fp16";
  EXPECT_EQ(left_of(kInf, 0, 70000), kInf);
  EXPECT_EQ(left_of(kInf, 0, 5e38), 0);
}

// Before they are multiplied, in fp32.
TEST(RoundingSlack, NarrowOperandsAreRounded) {
  const Intermediates held{constant_reference(1), constant_reference(70000), true};
  const RoundingSlack slack(constant_reference(0), held, DType::fp32, DType::fp16);
  const float zero = 0;
  float rounded = 0x1p-10, overflowed = HUGE_VALF;
  slack.forgive(0, {0, 1}, DType::fp32, &zero, &rounded);
  slack.forgive(0, {0, 1}, DType::fp32, &zero, &overflowed);
  EXPECT_EQ(rounded, 0);
  EXPECT_EQ(overflowed, HUGE_VALF) << "70000 is no overflow of fp32";
}

// 65519.9 is 65504 in fp16, and a little more is Inf.
TEST(RoundingSlack, RoundingsCrossTheEdgeOfTheRange) {
  EXPECT_EQ(left(kInf, 65500, 65500, 65500, DType::fp16), 65500);
  EXPECT_EQ(left(kInf, 65000, 1, 65000, DType::fp16), kInf);
  EXPECT_EQ(left(65504, 65600, 65600, 65600, DType::fp16), 65600);
  EXPECT_EQ(left(65504, 90000, 90000, 90000, DType::fp16), 65504);
}

TEST(RoundingSlack, InfiniteInputsExcuseNothing) {
  EXPECT_EQ(left(2, kInf, kInf, kInf), 2);
  EXPECT_TRUE(std::isnan(left(NAN, kInf, kInf, kInf)));
}

// All of these failed honest kernels, PyTorch's among them, of some seeds.
TEST(RoundingSlack, NoHonestKernelFails) {
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

// As PyTorch's, which overflow and cancel at the same places.
TEST(RoundingSlack, NoHonestKernelFailsOfExtremes) {
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

}  // namespace opbench
