#include "ops/torch_expression.h"

#include <gtest/gtest.h>

namespace opbench {
namespace {

Problem problem_of(const char* name, std::vector<TensorDesc> inputs) {
  const Op& op = find_op(name);
  return make_problem(op, std::move(inputs), Attrs(op.attrs));
}

}  // namespace

TEST(TorchExpression, NamesInputsAndAttributes) {
  EXPECT_EQ(torch_expression(find_op("softplus")),
            R"(F.softplus(x[0], a["beta"], a["threshold"]))");
}

TEST(TorchExpression, AGradientIsThatOfItsForwardOperator) {
  const TensorDesc x = describe(DType::fp32, {8});
  const TorchGradient gradient = torch_gradient(problem_of("sin_grad", {x, x}));
  ASSERT_NE(gradient.forward, nullptr);
  EXPECT_EQ(gradient.forward->name, "sin");
  ASSERT_EQ(gradient.call.args.size(), 2);
  EXPECT_EQ(gradient.call.args[0].source, GradientArg::output_gradient);
  EXPECT_EQ(gradient.call.args[1].source, GradientArg::input);
}

// sigmoid_grad has the result, not the input, of sigmoid.
TEST(TorchExpression, AGradientNeedsTheInputs) {
  const TensorDesc x = describe(DType::fp32, {8});
  EXPECT_EQ(torch_gradient(problem_of("sigmoid_grad", {x, x})).forward, nullptr);
  EXPECT_EQ(torch_gradient(problem_of("relu", {x})).forward, nullptr);
}

}  // namespace opbench
