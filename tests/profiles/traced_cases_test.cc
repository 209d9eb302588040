// Tests calls of PyTorch in traces as cases. Source of the order of arguments: ATen's
// native_functions.yaml.
#include <gmock/gmock.h>

#include "tests/profiles/rows_of_profiles.h"
#include "tests/profiles/traced_calls.h"

namespace opbench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

NetworkCases cases_of_calls(const std::string& calls) {
  return cases_in(ingest_text(trace_of(calls)));
}

const std::string kConvolution = R"([[2,3,8,8],[4,3,3,3],[4],[],[],[],[],[],[],[],[],[],[]])";
const std::string kConvolutionTypes =
    R"(["float","float","float","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar","Scalar","Scalar","Scalar","Scalar"])";

TEST(TracedCases, HaveTheNumbersAmongTheArguments) {
  const NetworkCases cases = cases_of_calls(call(
      "aten::_convolution", 1,
      inputs(
          kConvolution, kConvolutionTypes,
          R"(["","","","[2, 2]","[1, 1]","[1, 1]","False","[0, 0]","1","False","False","True","True"])")));
  EXPECT_THAT(ids(cases),
              ElementsAre("conv2d[2x3x8x8,4x3x3x3,4,fp32,NCHW,stride=[2,2],padding=[1,1],"
                          "dilation=[1,1]]"));
  ASSERT_THAT(cases.cases, SizeIs(1));
  EXPECT_TRUE(cases.cases[0].are_attrs_known);
  EXPECT_EQ(cases.cases[0].spec.weight_us, 3);
  EXPECT_EQ(cases.covered_share(), 1);
}

TEST(TracedCases, SayWhereNumbersAreNotRecorded) {
  const NetworkCases cases =
      cases_of_calls(call("aten::_convolution", 1, inputs(kConvolution, kConvolutionTypes, "")));
  ASSERT_THAT(cases.cases, SizeIs(1));
  EXPECT_FALSE(cases.cases[0].are_attrs_known);
  EXPECT_THAT(cases.cases[0].notes, Contains(HasSubstr("attributes unknown")));
}

// 2x3x8x8 with a kernel of 3x3 gives 2x4x4x4 with stride 2 and padding 1: (8 + 2 - 3)/2 + 1 = 4.
TEST(TracedCases, OfBothGradientsOfAConvolutionHaveAttributesThatFit) {
  const NetworkCases cases = cases_of_calls(call(
      "aten::convolution_backward", 1,
      inputs(
          R"([[2,4,4,4],[2,3,8,8],[4,3,3,3],[],[],[],[],[],[],[],[]])",
          R"(["float","float","float","ScalarList","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar","ScalarList"])",
          "")));
  EXPECT_THAT(ids(cases),
              ElementsAre("conv2d_grad_input[2x4x4x4,4x3x3x3,fp32,NCHW,stride=[2,2],padding=[1,1],"
                          "input_size=[8,8]]",
                          "conv2d_grad_weight[2x4x4x4,2x3x8x8,fp32,NCHW,stride=[2,2],padding=[1,1],"
                          "kernel_size=[3,3]]"));
  EXPECT_THAT(cases.cases[0].notes, Contains("one of 2 parts of the call"));
  EXPECT_DOUBLE_EQ(cases.cases[0].spec.weight_us + cases.cases[1].spec.weight_us, 3);
}

TEST(TracedCases, OfElementWiseCallsTakeOperandsInTheirOrder) {
  const NetworkCases cases = cases_of_calls(
      call("aten::mm", 1, inputs("[[4,5],[5,6]]", R"(["c10::Half","c10::Half"])", R"(["",""])")) +
      call("aten::add_", 2,
           inputs("[[7],[7],[]]", R"(["float","float","Scalar"])", R"(["","","2"])")) +
      call("aten::relu_", 3, inputs("[[7]]", R"(["float"])", R"([""])")));
  EXPECT_THAT(ids(cases), ElementsAre("matmul[4x5,5x6,fp16,ND]", "axpy[7,7,fp32,ND,alpha=2]",
                                      "relu[7,fp32,ND]"));
}

TEST(TracedCases, ListWhatIsNone) {
  const NetworkCases cases = cases_of_calls(
      call("aten::relu", 1, "") +
      call("aten::cat", 2,
           inputs("[[[2,3],[2,3]],[]]", R"(["TensorList","Scalar"])", R"(["","1"])")) +
      call("mine::op", 3, inputs("[[7]]", R"(["float"])", R"([""])")) +
      call("c10d::allreduce_", 4, inputs("[[7]]", R"(["float"])", R"([""])")) +
      span("kernel", "alone", 900, 1, R"("device":0,"stream":7,"correlation":99)"));
  EXPECT_THAT(cases.cases, IsEmpty());
  std::vector<std::string> reasons;
  for (const UncoveredType& one : cases.uncovered) reasons.push_back(one.type + ": " + one.reason);
  EXPECT_THAT(reasons, testing::UnorderedElementsAre(
                           "aten::relu: the trace has no shapes: record_shapes=True",
                           "aten::cat: the trace does not have the tensors of a list",
                           "mine::op: no operator of that name is known",
                           "(kernels): not launched by a recorded operator of the host"));
}

// Steps of ResNet-50 and AlexNet. cuDNN's gradients have no case, because no argument states their
// result. Lists of tensors have no case either.
TEST(TracedCases, CoverHalfOfRealSteps) {
  const auto share = [](const char* sample) {
    return cases_in(ingest_samples({sample})).covered_share();
  };
  EXPECT_GT(share("traces/torch_kineto_2021_resnet50_one_step.json.gz"), 0.53);
  EXPECT_GT(share("traces/ascend_pytorch_trace_view_alexnet.json.gz"), 0.67);
  EXPECT_GT(share("traces/torch_kineto_rocm_minitoy_mi250.json.gz"), 0.74);
}

}  // namespace
}  // namespace opbench
