#include "ops/op.h"

#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "kernels/kernel.h"
#include "tensor/error.h"
#include "tests/evaluate.h"

namespace opbench {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Registry, HoldsTheOperators) {
  std::set<std::string_view> names;
  for (const Op* op : RegisteredOp::all()) names.insert(op->name);
  for (const char* name : {"softplus", "softplus_grad", "relu", "relu_grad", "mean", "mean_grad"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST(Registry, EveryOperatorIsComplete) {
  for (const Op* op : RegisteredOp::all()) {
    SCOPED_TRACE(op->name);
    EXPECT_NE(op->infer, nullptr);
    EXPECT_EQ(op->reference != nullptr, op->accuracy == AccuracyClass::rounded);
    EXPECT_TRUE(op->reference != nullptr || op->exact_reference != nullptr);
    EXPECT_NE(op->traffic, nullptr);
    EXPECT_FALSE(op->inputs.empty());
    EXPECT_FALSE(op->outputs.empty());
    EXPECT_FALSE(op->dtypes.empty());
    EXPECT_FALSE(op->formats.empty());
    EXPECT_FALSE(op->summary.empty());
    EXPECT_FALSE(op->source.empty());
    ASSERT_FALSE(kernels_of(op->name).empty());
    EXPECT_EQ(kernels_of(op->name).front()->name, "native") << "native is listed first";
  }
}

TEST(Registry, GradientsNameOperatorsThatExist) {
  for (const Op* op : RegisteredOp::all()) {
    if (op->gradient == nullptr) continue;
    SCOPED_TRACE(op->name);
    const Problem problem = example_problem(*op, DType::fp32, Format::NCHW);
    for (const GradientCall& call : op->gradient(problem)) {
      EXPECT_FALSE(call.args.empty());
      if (call.op.empty()) continue;
      const Op& gradient = find_op(call.op);
      if (gradient.variadic) continue;
      EXPECT_LE(call.args.size(), gradient.inputs.size());
      EXPECT_GE(call.args.size() + gradient.optional_inputs, gradient.inputs.size());
    }
  }
}

TEST(Registry, EveryKernelIsOfAnOperatorThatExists) {
  for (const Kernel* kernel : RegisteredKernel::all()) {
    EXPECT_NO_THROW(find_op(kernel->op)) << kernel->key();
    EXPECT_FALSE(kernel->summary.empty()) << kernel->key();
  }
}

TEST(FindOp, SuggestsTheNearestName) {
  EXPECT_THAT(
      [] { find_op("sofplus"); },
      ThrowsMessage<Error>(HasSubstr("unknown operator 'sofplus'; did you mean 'softplus'?")));
}

TEST(FindOp, ListsAllWhereNoneIsNear) {
  EXPECT_THAT([] { find_op("convolution"); }, ThrowsMessage<Error>(HasSubstr(" relu, relu_grad,")));
}

TEST(MakeProblem, ChecksCountDtypeAndFormat) {
  const Op& op = find_op("softplus");
  const Attrs attrs(op.attrs);
  const auto fp32 = describe(DType::fp32, {2, 3});
  EXPECT_THAT(
      [&] {
        make_problem(op, {fp32, fp32}, attrs);
      },
      ThrowsMessage<Error>(HasSubstr("softplus takes 1 input tensor, found 2")));
  EXPECT_THAT(
      [&] {
        make_problem(op, {describe(DType::int32, {2, 3})}, attrs);
      },
      ThrowsMessage<Error>(HasSubstr("input 'self' is int32; allowed: fp32, fp16, bf16")));
  EXPECT_THAT(
      [&] {
        make_problem(op, {describe(DType::fp32, {2, 3}, Format::FRACTAL_NZ)}, attrs);
      },
      ThrowsMessage<Error>(HasSubstr("stored as FRACTAL_NZ; allowed: NCHW, ND")));
}

TEST(InferElementwise, NamesTheInputsThatDiffer) {
  const Op& op = find_op("softplus_grad");
  EXPECT_THAT(
      [&] {
        make_problem(op, {describe(DType::fp32, {2, 3}), describe(DType::fp32, {3, 2})},
                     Attrs(op.attrs));
      },
      ThrowsMessage<Error>(
          HasSubstr("softplus_grad: inputs 0 and 1 must be alike, found fp32[2x3]")));
}

TEST(Attributes, AreCheckedAndRoundedToFp32) {
  const Op& op = find_op("softplus");
  Attrs attrs(op.attrs);
  EXPECT_EQ(attrs.number("beta"), 1);
  EXPECT_EQ(attrs.number("threshold"), 20);
  attrs.set(op.attrs, "beta", "0.1");
  EXPECT_EQ(attrs.number("beta"), double(0.1f)) << "device attributes are fp32";
  EXPECT_EQ(to_string(attrs.values().at("beta")), "0.1");
  EXPECT_THAT([&] { attrs.set(op.attrs, "beta", "0"); },
              ThrowsMessage<Error>(HasSubstr("attribute 'beta' is '0'; beta = 0 divides by zero")));
  EXPECT_THAT([&] { attrs.set(op.attrs, "beta", "soft"); },
              ThrowsMessage<Error>(HasSubstr("it must be a number of fp32")));
  EXPECT_THAT([&] { attrs.set(op.attrs, "beta", "1e99"); }, testing::Throws<Error>());
  EXPECT_THAT([&] { attrs.set(op.attrs, "beta", "nan"); }, testing::Throws<Error>());
  attrs.set(op.attrs, "threshold", "-inf");
  EXPECT_EQ(attrs.number("threshold"), -HUGE_VAL);
  EXPECT_EQ(to_string(attrs.values().at("threshold")), "-inf");
  EXPECT_THAT([&] { attrs.set(op.attrs, "betta", "1"); },
              ThrowsMessage<Error>(HasSubstr("unknown attribute 'betta'; did you mean 'beta'?")));
}

TEST(Attributes, OneNumberIsAList) {
  const Op& op = find_op("conv2d");
  Attrs attrs(op.attrs);
  attrs.set(op.attrs, "stride", "2");
  EXPECT_EQ(attrs.list("stride"), std::vector<std::int64_t>{2});
  attrs.set(op.attrs, "stride", "[2, 3]");
  EXPECT_EQ(attrs.list("stride"), (std::vector<std::int64_t>{2, 3}));
  EXPECT_THAT([&] { attrs.set(op.attrs, "stride", "2.5"); },
              ThrowsMessage<Error>(HasSubstr("a whole number or a list of them like [0, 2, 1]")));
}

TEST(CornerValues, HoldSpecialsAndTheThreshold) {
  const Op& op = find_op("softplus");
  const auto values =
      corner_values(make_problem(op, {describe(DType::fp16, {8})}, Attrs(op.attrs)));
  EXPECT_THAT(values, testing::Contains(testing::IsNan()));
  EXPECT_THAT(values, testing::Contains(20.0));
  EXPECT_THAT(values, testing::Contains(65504.0));
  EXPECT_THAT(values, testing::Contains(std::ldexp(1.0, -24))) << "smallest fp16 subnormal";
}

TEST(Traffic, CountsPaddingAndEachTensorOnce) {
  const Op& op = find_op("softplus");
  // C = 20 is stored in 2 x 16 lanes: 2*32*3*3*4 bytes are read, and as many are written.
  const Problem problem =
      make_problem(op, {describe(DType::fp32, {2, 20, 3, 3}, Format::NC1HWC0)}, Attrs(op.attrs));
  const Traffic traffic = op.traffic(problem);
  EXPECT_EQ(traffic.bytes_read, 2304);
  EXPECT_EQ(traffic.bytes_written, 2304);
  EXPECT_EQ(traffic.operations, 6 * 2 * 20 * 3 * 3);
}

}  // namespace opbench
