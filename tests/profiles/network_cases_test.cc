#include "profiles/network_cases.h"

#include <gmock/gmock.h>

#include <sstream>

#include "harness/plan/case_files.h"
#include "tests/profiles/rows_of_profiles.h"

namespace opbench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;
using testing::UnorderedElementsAre;

std::string text_of_cases(const NetworkCases& cases) {
  std::ostringstream out;
  write_case_file(out, cases, {});
  return out.str();
}

const std::vector<std::string> kSamples = {
    "kernel_details/alexnet_level1_rank0.csv",
    "kernel_details/llm_bf16_st_rank0.csv",
    "kernel_details/gpt_fp16_aicpu_arith.csv",
    "kernel_details/fa_matmul_quoted_start.csv",
    "kernel_details/level0_8col_crlf.csv",
    "op_summary/op_summary_0_1_1_SYNTHETIC_cann51_resnet50_bs16.csv",
    "op_summary/op_summary_ffts_910b.csv",
    "op_summary/op_summary_cann6_mskpp_1row.csv",
    "host_logs/plog-27441_20230109110428123.log",
    "host_logs/ascend_op_info_summary.txt"};

// Strides and padding are those of torchvision's AlexNet; the table does not contain them. C = 3 of
// the first layer, whose storage has 8 channels, comes from the TransData before it.
TEST(NetworkCases, FindsTheLayersOfAlexNet) {
  const NetworkCases cases = cases_in(ingest_samples({"kernel_details/alexnet_level1_rank0.csv"}));
  EXPECT_THAT(
      ids(cases),
      testing::IsSupersetOf(
          {"conv2d[32x3x224x224,64x3x11x11,64,fp32,NC1HWC0,stride=[4,4],padding=[2,2]]",
           "conv2d[32x64x27x27,192x64x5x5,192,fp32,NC1HWC0,stride=[1,1],padding=[2,2]]",
           "conv2d[32x192x13x13,384x192x3x3,384,fp32,NC1HWC0,stride=[1,1],padding=[1,1]]",
           "conv2d[32x384x13x13,256x384x3x3,256,fp32,NC1HWC0,stride=[1,1],padding=[1,1]]",
           "conv2d[32x256x13x13,256x256x3x3,256,fp32,NC1HWC0,stride=[1,1],padding=[1,1]]",
           "max_pool2d[32x64x55x55,fp32,NC1HWC0,kernel_size=[3,3],stride=[2,2],padding=[0,0]]",
           "linear[32x9216,4096x9216,4096,fp32,ND]", "linear[32x4096,4096x4096,4096,fp32,ND]"}));
}

// The whole time of a profile is in cases, not covered or left out. No time is counted twice.
TEST(NetworkCases, ShareTheWholeProfile) {
  for (const std::string& sample : kSamples) {
    const NetworkCases cases = cases_in(ingest_samples({sample}));
    std::int64_t calls = cases.covered_calls, ps = cases.covered_ps, of_cases = 0;
    for (const auto* list : {&cases.uncovered, &cases.dropped}) {
      for (const UncoveredType& one : *list) calls += one.count, ps += one.total_ps;
    }
    for (const NetworkCase& one : cases.cases) of_cases += one.spec.count;
    EXPECT_EQ(calls, cases.whole_calls) << sample;
    EXPECT_EQ(ps, cases.whole_ps) << sample;
    // A call on a list of tensors has a case for each tensor.
    EXPECT_GE(of_cases, cases.covered_calls) << sample;
  }
}

// A written case file gives the same cases when it is read.
TEST(NetworkCases, AreACaseFile) {
  for (const std::string& sample : kSamples) {
    const NetworkCases cases = cases_in(ingest_samples({sample}));
    const CaseFile file = parse_case_file(text_of_cases(cases), "it.yaml", {});
    ASSERT_EQ(file.cases.size(), cases.cases.size()) << sample;
    for (std::size_t i = 0; i < file.cases.size(); ++i) {
      Case read = file.cases[i].base;
      ASSERT_THAT(*file.cases[i].dtypes, SizeIs(1));
      read.dtype = file.cases[i].dtypes->front();
      read.format = file.cases[i].formats->front();
      const Case& meant = cases.cases[i].spec;
      EXPECT_EQ(case_id(read), case_id(meant));
      EXPECT_EQ(read.count, meant.count);
      EXPECT_DOUBLE_EQ(read.weight_us, meant.weight_us);
      EXPECT_NO_THROW(problem_of(read)) << case_id(read);
    }
  }
}

// C0 of fp32 is 8 in one tensor and 16 in another. The last extent decides, not the dtype.
TEST(NetworkCases, TurnStorageShapesBack) {
  const std::string to_8 =
      row("TransData", "\"2,20,8,8\",FLOAT,NCHW", "\"2,3,8,8,8\",FLOAT,NC1HWC0");
  const std::string relu_8 =
      row("Relu", "\"2,3,8,8,8\",FLOAT,NC1HWC0", "\"2,3,8,8,8\",FLOAT,NC1HWC0");
  const std::string relu_16 =
      row("Relu", "\"2,2,8,8,16\",FLOAT,NC1HWC0:1", "\"2,2,8,8,16\",FLOAT,NC1HWC0:1");
  const NetworkCases cases = cases_of_rows(relu_8 + to_8 + relu_16);
  EXPECT_THAT(ids(cases), UnorderedElementsAre("relu[2x20x8x8,fp32,NC1HWC0]",
                                               "trans_data[2x20x8x8,fp32,NCHW,c0=8]",
                                               "relu[2x32x8x8,fp32,NC1HWC0]"));
  for (const NetworkCase& one : cases.cases) {
    if (one.spec.inputs[0].shape[1] != 32) {
      EXPECT_THAT(one.notes, IsEmpty());
      continue;
    }
    EXPECT_THAT(one.notes, ElementsAre("NC1HWC0 of 2x2x8x8x16 is read as 2x32x8x8: an upper "
                                       "bound of the channels"));
  }
}

TEST(NetworkCases, TakeTheWeightOfAConvolutionFromWhatItIsAppliedTo) {
  const NetworkCases cases = cases_of_rows(
      row("TransData", "\"1,20,8,8\",FLOAT16,NCHW", "\"1,2,8,8,16\",FLOAT16,NC1HWC0") +
      row("Conv2D", "\"1,2,8,8,16;18,3,16,16;40\",FLOAT16;FLOAT16;FLOAT16,NC1HWC0;FRACTAL_Z;ND",
          "\"1,3,4,4,16\",FLOAT16,NC1HWC0"));
  EXPECT_THAT(ids(cases), Contains("conv2d[1x20x8x8,40x20x3x3,40,fp16,NC1HWC0,stride=[2,2],"
                                   "padding=[1,1]]"));
}

TEST(NetworkCases, OfOneIdAreOne) {
  const std::string add = row("Add", "\"8;8\",FLOAT;FLOAT,ND;ND", "8,FLOAT,ND");
  const std::string vector = "n,Add,AI_VECTOR_CORE,2.5,\"8;8\",FLOAT;FLOAT,ND;ND,8,FLOAT,ND\n";
  const NetworkCases cases = cases_of_rows(add + add + vector);
  ASSERT_THAT(ids(cases), ElementsAre("add[8,8,fp32,ND]"));
  EXPECT_EQ(cases.cases[0].spec.count, 3);
  EXPECT_DOUBLE_EQ(cases.cases[0].spec.weight_us, 5.5);
  EXPECT_EQ(cases.covered_share(), 1);
}

TEST(NetworkCases, SayWhatIsNotCoveredAndWhatIsLeftOut) {
  const NetworkCases cases = cases_of_rows(
      row("UnknownType", "\"8,16\",FLOAT,ND", "\"8,8\",FLOAT,ND") +
      row("Cast", "8,FLOAT,ND", "8,COMPLEX64,ND") + row("Transpose", "8,FLOAT,ND", "9,FLOAT,ND") +
      "n,MemSet,AI_VECTOR_CORE,1,N/A,N/A,N/A,N/A,N/A,N/A\n"
      "n,DSARandomUniform,DSA_SQE,1,N/A,N/A,N/A,N/A,N/A,N/A\n"
      "n,Add,AI_CORE,1,N/A,N/A,N/A,N/A,N/A,N/A\n"
      "hcom_a,hcom_allReduce_,HCCL,100,N/A,N/A,N/A,N/A,N/A,N/A\n");
  const auto listed = [](const std::vector<UncoveredType>& list) {
    std::vector<std::string> all;
    for (const UncoveredType& one : list) all.push_back(one.type + ": " + one.reason);
    return all;
  };
  EXPECT_THAT(cases.cases, IsEmpty());
  EXPECT_THAT(listed(cases.uncovered),
              UnorderedElementsAre("UnknownType: no operator of that name is known",
                                   "Cast: output 0: dtype COMPLEX64", StartsWith("Transpose: "),
                                   "Add: the profile has no shapes"));
  EXPECT_THAT(listed(cases.dropped),
              UnorderedElementsAre("MemSet: sets memory", "DSARandomUniform: random"));
}

constexpr const char* kTensor =
    "DataType = 0, Format = 2, StorageFormat = 2, Shape = [4, 6], StorageShape = [4, 6], "
    "shapeRange = [], memtype = 0, isConst = 0";

// Softmax runs along the first axis. Only the log states the axis.
TEST(NetworkCases, TakeAttributesFromALogOfTheSameNetwork) {
  IngestResult profile =
      ingest_text(kRowHeader + row("SoftmaxV2", "\"4,6\",FLOAT,ND", "\"4,6\",FLOAT,ND"));
  const NetworkCases without = cases_in(profile);
  ASSERT_THAT(ids(without), ElementsAre("softmax[4x6,fp32,ND]"));
  EXPECT_FALSE(without.cases[0].are_attrs_known);
  EXPECT_EQ(without.cases[0].spec.name, "SoftmaxV2 (attributes unknown)");
  EXPECT_THAT(without.cases[0].notes, ElementsAre("attributes unknown: defaults are used"));
  const std::string log = std::string(
                              "aclopCompile::aclOp = OpType: SoftmaxV2, InputDesc[0]: "
                              "[TensorDesc] ") +
                          kTensor + " OutputDesc[0]: [TensorDesc] " + kTensor +
                          " Attr: {axes = [0]}\n";
  ingest_bytes(bytes_of(log), "plog.log", profile);
  const NetworkCases with = cases_in(profile);
  ASSERT_THAT(ids(with), ElementsAre("softmax[4x6,fp32,ND,dim=0]"));
  EXPECT_TRUE(with.cases[0].are_attrs_known);
  EXPECT_EQ(with.cases[0].spec.weight_us, 1.5);
  EXPECT_THAT(text_of_cases(without), HasSubstr("# attributes unknown: defaults are used\n"));
}

// Source: expected_op_info_cases.json, and the log for Conv2D.
TEST(NetworkCases, OfALogAlone) {
  const NetworkCases cases =
      cases_in(ingest_samples({"host_logs/plog-27441_20230109110428123.log"}));
  EXPECT_FALSE(cases.is_timed);
  EXPECT_EQ(cases.whole_calls, 23);
  EXPECT_EQ(cases.covered_calls, 20);
  EXPECT_THAT(ids(cases), testing::IsSupersetOf(
                              {"conv2d[4x1x28x28,6x1x5x5,6,fp32,NCHW,stride=[1,1],padding=[0,0],"
                               "dilation=[1,1]]",
                               "trans_data[6x1x5x5,fp32,NCHW,dst_format=FRACTAL_Z]"}));
  EXPECT_THAT(cases.uncovered,
              Contains(testing::Field(&UncoveredType::reason, "the line is cut in the log")));
}

TEST(NetworkCases, NothingOfWhatIsHostileThrows) {
  const std::string shapes[] = {"",
                                "\"-1,2\"",
                                "\"99999999999999999999\"",
                                "\"4294967296,4294967296,4294967296\"",
                                "\"0,3,0,0,0\"",
                                "\";;;;;;;\"",
                                "\"1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1\"",
                                "\"2147483648,2147483648,1,1,1\"",
                                "\"a,b\x01\""};
  const std::string formats[] = {"NC1HWC0", "FRACTAL_Z", "FRACTAL_NZ", "NDC1HWC0",
                                 "NHWC",    "ND;",       "NULL",       "what\x02"};
  std::string rows;
  for (const std::string& shape : shapes) {
    for (const std::string& format : formats) {
      for (const char* type : {"TransData",
                               "Conv2D",
                               "Relu",
                               "Slice",
                               "Split",
                               "MatMulV2",
                               "ReduceSum",
                               "ConcatD",
                               "Conv2DBackpropInput",
                               "MaxPool",
                               "DepthwiseConv2D",
                               "BNTrainingUpdate",
                               "BNTrainingReduceGrad",
                               "BroadcastTo",
                               "AsStrided",
                               "StridedSliceD",
                               "TopKV2",
                               "ForeachAddList",
                               "ForeachMulScalar",
                               "ApplyAdamWV2",
                               "Adds"}) {
        rows += row(type, shape + ",FLOAT," + format, shape + ",FLOAT,NCHW");
        rows += row(type, "\"2,2\",FLOAT,NCHW", shape + ",FLOAT;," + format);
      }
    }
  }
  const NetworkCases cases = cases_of_rows(rows);
  EXPECT_NO_THROW(parse_case_file(text_of_cases(cases), "it.yaml", {}));
}

}  // namespace
}  // namespace opbench
