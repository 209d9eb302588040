// Plants faults in correct records and finds the least record that still has the fault. The
// elements that are needed for an output element are counted by hand.
#include "compare/minimise.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/compare/planted_fault.h"

namespace opbench {
namespace {

using Fault = PlantedFault::Fault;
using Values = PlantedFault::Values;

// One element is wrong.
Fault at(std::vector<std::int64_t> place) {
  return [place](Values& output, const Dims& shape) {
    std::int64_t index = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      index = index * shape[axis] + place[axis];
    }
    double& value = output[static_cast<std::size_t>(index)];
    value = value > 0 ? -value - 8 : 8 - value;
  };
}

// The last elements are not written.
Fault tail(std::size_t count) {
  return [count](Values& output, const Dims&) {
    std::fill(output.end() - static_cast<std::ptrdiff_t>(count), output.end(), -77.0);
  };
}

// A channel, axis 1, is not written.
Fault channel(std::int64_t which) {
  return [which](Values& output, const Dims& shape) {
    const std::int64_t plane = element_count(shape) / shape[0] / shape[1];
    for (std::size_t i = 0; i < output.size(); ++i) {
      if (static_cast<std::int64_t>(i) / plane % shape[1] == which) output[i] = -77;
    }
  };
}

struct Planted {
  std::string name, case_text;
  Fault fault;
  std::int64_t least = 0;  ///< elements of inputs and output together
  std::int64_t places = 0;
  std::size_t output = 0;
};

std::ostream& operator<<(std::ostream& out, const Planted& planted) { return out << planted.name; }

class MinimisePlanted : public testing::TestWithParam<Planted>, protected PlantedFault {};

const Planted kPlanted[] = {
    // Element-wise operators need inputs and output at one place.
    {"OneElement", "softplus[8x33,fp32,ND]", at({5, 2}), 2},
    {"TailNotWritten", "relu[7x13,fp16,ND]", tail(3), 2},
    {"TwoInputs", "relu_grad[3x4x5x6,3x4x5x6,fp32,NCHW]", at({2, 3, 4, 5}), 3},
    {"Blocked", "softplus[2x20x3x4,fp16,NC1HWC0]", at({1, 17, 2, 3}), 2},
    {"Broadcast", "add[4x16x5,16x1,fp32,ND]", at({3, 9, 4}), 3},
    // A line of softmax, or a row and a column of a product.
    {"SoftmaxRow", "softmax[6x40,fp32,ND]", at({4, 11}), 80},
    {"MatmulCell", "matmul[12x30,30x14,fp32,ND]", at({7, 9}), 61},
    {"MatmulTransposed", "matmul[3x30x12,3x30x14,fp32,ND,transpose_a=true]", at({2, 7, 9}), 61},
    {"Mean", "reduce_mean[6x5x7,fp32,ND,axes=[1]]", at({2, 3}), 6},
    // A window has 6 channels of 3 x 3 in x and in the weight, and one output. The corner has 2 x 2
    // of them.
    {"ConvChannel", "conv2d[2x6x9x9,8x6x3x3,fp32,NCHW,padding=1]", channel(5), 109},
    {"ConvBias", "conv2d[2x6x9x9,8x6x3x3,8,fp32,NCHW,stride=2]", at({1, 7, 2, 2}), 110},
    {"ConvCorner", "conv2d[2x6x9x9,8x6x3x3,fp32,NCHW,padding=1]", at({1, 3, 0, 0}), 49},
    {"ConvDepthwise", "conv2d[2x8x9x9,8x1x3x3,fp32,NCHW,stride=2,groups=8]", at({1, 6, 2, 1}), 19},
    {"ConvGroups", "conv2d[1x8x9x9,12x2x3x3,fp32,NCHW,dilation=2,groups=4]", at({0, 7, 2, 1}), 37},
    {"MaxPool", "max_pool2d[2x5x12x12,fp32,NCHW,kernel_size=3,stride=2,padding=1]",
     at({1, 4, 3, 3}), 10},
    {"MaxPoolCorner", "max_pool2d[2x5x12x12,fp32,NCHW,kernel_size=3,stride=2,padding=1]",
     at({1, 4, 0, 0}), 5},
    {"AvgPool", "avg_pool2d[2x5x12x12,fp32,NCHW,kernel_size=2]", at({1, 4, 3, 3}), 5},
    {"BatchNormTraining", "batch_norm[3x5x6x6,5,5,5,5,fp32,NCHW]", channel(3), 2 * 3 * 36 + 4},
    {"BatchNormInference", "batch_norm[3x5x6x6,5,5,5,5,fp32,NCHW,training=false]", at({1, 3, 2, 5}),
     6},
    // Moved data needs the element, its index and its destination.
    {"IndexSelect", "index_select[50x7,20:int64,fp32,ND,axis=0]", at({13, 4}), 3, 50},
    {"Embedding", "gather[50x7,5x4:int32,fp16,ND]", at({3, 1, 4}), 3, 50},
    {"GatherElements", "gather_elements[9x6,9x6:int64,fp32,ND]", at({8, 5}), 3, 9},
    {"IndexAdd", "index_add[20x6,15:int64,15x6,fp32,ND]", at({17, 2}), 4, 20},
    {"Concat", "concat[4x3,4x5,4x2,fp32,ND]", at({2, 6}), 2},
    {"Transpose", "transpose[3x4x5,fp32,ND,perm=[2,0,1]]", at({4, 2, 3}), 2},
    {"Reshape", "reshape[6x8,fp32,ND,shape=[4,-1]]", at({3, 5}), 2},
    {"ChannelShuffle", "channel_shuffle[2x8x3x3,fp32,NCHW,groups=2]", at({1, 5, 2, 1}), 2},
};

}  // namespace

TEST_P(MinimisePlanted, IsReachedWithinTwiceTheLeast) {
  const Planted& planted = GetParam();
  places = planted.places;
  const std::int64_t found = least(planted.case_text, planted.fault, planted.output);
  EXPECT_GE(found, 1);
  EXPECT_LE(found, 2 * planted.least);
  ASSERT_TRUE(witness);
  EXPECT_TRUE(witness->finding.is_wrong);
}

INSTANTIATE_TEST_SUITE_P(Faults, MinimisePlanted, testing::ValuesIn(kPlanted),
                         [](const auto& planted) { return planted.param.name; });

class Minimise : public testing::Test, protected PlantedFault {};

// The result is truncated instead of rounded. Each element is within a unit, so 32 elements are
// needed to show the bias.
TEST_F(Minimise, RoundingThatLeansNeedsMany) {
  rounding = [](double value) {
    const double unit = std::ldexp(1, std::ilogb(value) - 10);
    return std::trunc(value / unit) * unit;
  };
  const std::int64_t found = least("softplus[32x32,fp16,ND]", [](Values&, const Dims&) {});
  EXPECT_GE(found, 2 * 32);
  EXPECT_LE(found, 2 * 2 * 32);
  ASSERT_TRUE(witness);
  EXPECT_TRUE(witness->finding.is_leaning);
  EXPECT_THAT(witness->finding.reason, testing::HasSubstr("rounds towards zero"));
}

TEST_F(Minimise, ANaNThatIsSwallowed) {
  data = [](std::size_t, std::int64_t i) { return i == 40 ? std::nan("") : double(i % 9 - 4); };
  EXPECT_EQ(least("relu[6x11,fp32,ND]", [](Values& y, const Dims&) { y[40] = 0; }), 2);
  ASSERT_TRUE(witness);
  EXPECT_THAT(witness->finding.reason, testing::HasSubstr("1 NaN on one side only"));
}

// The witness keeps the recorded numbers and their expected result.
TEST_F(Minimise, KeepsTheRecordedNumbers) {
  ASSERT_EQ(least("add[4x6,4x6,fp32,ND]", at({3, 2})), 3);
  EXPECT_EQ(witness->loaded.inputs[0].as<float>()[0], float(data(0, 20)));
  EXPECT_EQ(witness->loaded.inputs[1].as<float>()[0], float(data(1, 20)));
  EXPECT_EQ(witness->expected.as<double>()[0], data(0, 20) + data(1, 20));
  EXPECT_EQ(witness->call->problem.outputs[0].shape, (Dims{1, 1}));
}

// The search is stopped after a few trials. The witness is then smaller and still wrong.
TEST_F(Minimise, InterruptedItLeavesTheBestSoFar) {
  std::optional<GuiltyCall> found =
      guilty("conv2d[2x6x9x9,8x6x3x3,fp32,NCHW,padding=1]", channel(5));
  ASSERT_TRUE(found);
  const std::int64_t before = found->witness.elements();
  int calls = 0;
  minimise(found->witness, JudgeRules{}, [&] { return ++calls > 12; });
  EXPECT_LT(found->witness.elements(), before);
  EXPECT_GT(found->witness.elements(), 109);
  EXPECT_TRUE(found->witness.finding.is_wrong);
  ASSERT_EQ(judge_call(found->witness.loaded, JudgeRules{}).size(), 1u);
  EXPECT_TRUE(judge_call(found->witness.loaded, JudgeRules{})[0].is_wrong);
}

}  // namespace opbench
