#include <gmock/gmock.h>

#include "tests/profiles/rows_of_profiles.h"

namespace opbench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

// The other time belongs to operators that opbench lacks, such as AdaptiveAvgPool3d.
TEST(MappedOperators, CoverMostOfNetworks) {
  const auto share = [](const char* sample) {
    return cases_in(ingest_samples({sample})).covered_share();
  };
  EXPECT_GT(share("kernel_details/alexnet_level1_rank0.csv"), 0.97);
  EXPECT_GT(share("op_summary/op_summary_0_1_1_SYNTHETIC_cann51_resnet50_bs16.csv"), 0.97);
  EXPECT_GT(share("kernel_details/gpt_fp16_aicpu_arith.csv"), 0.86);
}

// 1.5 us are divided by elements: 6 and 4 of 10.
TEST(MappedOperators, OfListsOfTensorsAreOneForEachTensor) {
  const NetworkCases cases = cases_of_rows(
      row("ForeachAddList", "\"2,3;4;2,3;4;\",FLOAT;FLOAT;FLOAT;FLOAT;FLOAT,ND;ND;ND;ND;ND",
          "6;4,FLOAT;FLOAT,ND;ND") +
      row("ForeachMulScalar", "5;,DT_BF16;FLOAT,ND;ND", "5,DT_BF16,ND"));
  EXPECT_THAT(ids(cases),
              ElementsAre("mul[5,scalar,bf16,ND]", "axpy[2x3,2x3,fp32,ND]", "axpy[4,4,fp32,ND]"));
  EXPECT_EQ(cases.covered_calls, 2);
  EXPECT_EQ(cases.covered_share(), 1);
  EXPECT_DOUBLE_EQ(cases.cases[1].spec.weight_us, 0.9);
  EXPECT_DOUBLE_EQ(cases.cases[2].spec.weight_us, 0.6);
  EXPECT_THAT(cases.cases[1].notes, Contains("one of 2 tensors"));
  const NetworkCases in_place =
      cases_of_rows(row("ForeachMulScalar", "5;,FLOAT;FLOAT,ND;ND", "N/A,N/A,N/A"));
  ASSERT_THAT(in_place.uncovered, SizeIs(1));
  EXPECT_EQ(in_place.uncovered[0].reason, "the number of its tensors is not known");
}

// Rows of a training step in bf16. A row of NonZero does not state the shape of its result.
TEST(MappedOperators, SmallOnesOfATrainingStep) {
  const NetworkCases cases = cases_of_rows(
      row("Add", "\"4,6;4,6\",FLOAT;DT_BF16,ND;ND", "\"4,6\",FLOAT,ND") +
      row("Add", "\";\",INT64;INT64,ND;ND", "\"\",INT64,ND") +
      row("Greater", "\"4;\",FLOAT;FLOAT,ND;ND", "4,BOOL,ND") +
      row("NonZero", "4,BOOL,ND", "1,INT64,ND") +
      row("Range", "\";;\",DOUBLE;DOUBLE;DOUBLE,ND;ND;ND", "4096,FLOAT,ND") +
      row("ZerosLike", "\"4,6\",DT_BF16,ND", "\"4,6\",DT_BF16,ND") +
      row("ApplyAdamWV2", "\"8;8;8;8;1\",FLOAT;FLOAT;FLOAT;FLOAT;INT64,ND;ND;ND;ND;ND",
          "N/A,N/A,N/A"));
  EXPECT_THAT(ids(cases), testing::UnorderedElementsAre(
                              "add[4x6,4x6:bf16,fp32,ND]", "add[scalar,scalar,int64,ND]",
                              "gt[4,scalar,fp32,ND]", "nonzero[4,bool,ND]",
                              "range[scalar,scalar,scalar,fp32,ND,count=4096]", "fill[4x6,bf16,ND]",
                              "adam[8,8,8,8,fp32,ND,decoupled=true]"));
}

// The sums of BNTrainingReduce are the first pass of the batch norm that BNTrainingUpdate
// completes.
TEST(MappedOperators, OfBatchNormHaveTheTimeOfBothPasses) {
  const std::string x = "2,2,4,4,16", c = "1,2,1,1,16";
  const std::string vectors = ";FLOAT;FLOAT;FLOAT;FLOAT;FLOAT;FLOAT";
  const std::string formats = "NC1HWC0;NC1HWC0;NC1HWC0;NC1HWC0;NC1HWC0;NC1HWC0;NC1HWC0";
  const std::string reduce = row("BNTrainingReduce", "\"" + x + "\",FLOAT16,NC1HWC0",
                                 "\"" + c + ";" + c + "\",FLOAT;FLOAT,NC1HWC0;NC1HWC0");
  std::string six;
  for (int i = 0; i < 6; ++i) six += ";" + c;
  const std::string update =
      row("BNTrainingUpdate", "\"" + x + six + "\",FLOAT16" + vectors + "," + formats,
          "\"" + x + ";" + c + "\",FLOAT16;FLOAT,NC1HWC0;NC1HWC0");
  const std::string learn =
      row("TransData", "\"2,20,4,4\",FLOAT16,NCHW", "\"" + x + "\",FLOAT16,NC1HWC0");
  const NetworkCases cases = cases_of_rows(learn + reduce + update);
  ASSERT_THAT(ids(cases), testing::SizeIs(2));
  EXPECT_EQ(ids(cases)[0], "batch_norm[2x20x4x4,20,20,20,20,fp16,NC1HWC0]");
  EXPECT_EQ(cases.cases[0].spec.count, 1);
  EXPECT_DOUBLE_EQ(cases.cases[0].spec.weight_us, 3);
  EXPECT_THAT(cases.cases[0].notes, Contains("with the time of BNTrainingReduce"));
  EXPECT_EQ(cases.covered_calls, 3);
  const NetworkCases alone = cases_of_rows(reduce);
  ASSERT_THAT(alone.uncovered, SizeIs(1));
  EXPECT_EQ(alone.uncovered[0].reason, "the operator that completes it is not a case");
}

TEST(MappedOperators, OfTheGradientOfBatchNorm) {
  const std::string x = "2,2,4,4,16", c = "1,2,1,1,16";
  const std::string both = x + ";" + x, formats = "NC1HWC0;NC1HWC0;NC1HWC0;NC1HWC0";
  const NetworkCases cases =
      cases_of_rows(row("BNTrainingUpdateGrad",
                        "\"" + both + ";" + c + ";" + c + "\",FLOAT;FLOAT;FLOAT;FLOAT," + formats,
                        "\"" + c + ";" + c + "\",FLOAT;FLOAT,NC1HWC0;NC1HWC0") +
                    row("BNTrainingReduceGrad",
                        "\"" + both + ";" + c + ";" + c + ";" + c + ";" + c + ";" + c +
                            "\",FLOAT;FLOAT;FLOAT;FLOAT;FLOAT;FLOAT;FLOAT," + formats + ";" +
                            "NC1HWC0;NC1HWC0;NC1HWC0",
                        "\"" + x + "\",FLOAT,NC1HWC0"));
  ASSERT_THAT(ids(cases), ElementsAre("batch_norm_grad[2x32x4x4,2x32x4x4,32,32,32,fp32,NC1HWC0]"));
  EXPECT_DOUBLE_EQ(cases.cases[0].spec.weight_us, 3);
}

TEST(MappedOperators, OfOptimizersThatUpdateInPlace) {
  const std::string same = "8;8;8", types = "FLOAT;FLOAT;FLOAT", formats = "ND;ND;ND";
  const NetworkCases cases = cases_of_rows(
      row("ApplyAdamWV2", "\"8;8;8;8;1\"," + types + ";FLOAT;INT64," + formats + ";ND;ND",
          "N/A,N/A,N/A") +
      row("ApplyAdamW",
          "\"9;9;9;;;;;;;;9\"," + types + ";FLOAT;FLOAT;FLOAT;FLOAT;FLOAT;FLOAT;FLOAT;FLOAT," +
              formats + ";ND;ND;ND;ND;ND;ND;ND;ND",
          "\"9;9;9\"," + types + "," + formats));
  EXPECT_THAT(ids(cases), UnorderedElementsAre("adam[8,8,8,8,fp32,ND,decoupled=true]",
                                               "adam[9,9,9,9,fp32,ND,decoupled=true]"));
}

TEST(MappedOperators, OfViewsAreCopies) {
  const NetworkCases cases = cases_of_rows(
      row("BroadcastTo", "\"1,32;2\",INT64;INT64,ND;ND", "\"5,32\",INT64,ND") +
      row("Tile", "\"1,3;2\",FLOAT;INT64,ND;ND", "\"2,3\",FLOAT,ND") +
      row("StridedSliceD", "\"8,25\",FLOAT,ND", "8,FLOAT,ND") +
      row("Slice", "\"8,9\",FLOAT,ND", "\"2,3\",FLOAT,ND") +
      row("TopKV2", "\"32,1000;\",FLOAT;INT32,ND;ND", "\"32,5;32,5\",FLOAT;INT32,ND;ND"));
  EXPECT_THAT(ids(cases),
              UnorderedElementsAre("contiguous[1x32,int64,ND,view=broadcast(5,32)]",
                                   "contiguous[1x3,fp32,ND,view=broadcast(2,3)]",
                                   "contiguous[8x25,fp32,ND,view=select(1,0)]",
                                   "contiguous[8x9,fp32,ND,view=slice(1,0,3,1).slice(0,0,2,1)]",
                                   "topk[32x1000,fp32,ND,k=5,axis=1]"));
  const NetworkCases none = cases_of_rows(
      row("Tile", "\"2,3;2\",FLOAT;INT64,ND;ND", "\"4,3\",FLOAT,ND") +
      row("AsStrided", "\"4,6;2;2;\",FLOAT;INT64;INT64;INT64,ND;ND;ND;ND", "\"3,2\",FLOAT,ND"));
  EXPECT_THAT(none.cases, IsEmpty());
  EXPECT_THAT(none.uncovered,
              Contains(testing::Field(&UncoveredType::reason, "its strides are not known")));
}

// 20 channels with a filter for each. FRACTAL_Z holds 2 blocks of 3x3 and one block of outputs.
TEST(MappedOperators, OfConvolutionsWithAFilterForEachChannel) {
  const std::string learn =
      row("TransData", "\"1,20,8,8\",FLOAT16,NCHW", "\"1,2,8,8,16\",FLOAT16,NC1HWC0");
  const std::string x = "1,2,8,8,16", w = "18,1,16,16";
  const std::string formats = "FLOAT16;FLOAT16,NC1HWC0;FRACTAL_Z";
  const NetworkCases cases =
      cases_of_rows(learn +
                    row("DepthwiseConv2D", "\"" + x + ";" + w + "\"," + formats,
                        "\"" + x + "\",FLOAT16,NC1HWC0") +
                    row("DepthwiseConv2DBackpropInputD",
                        "\"" + w + ";" + x + "\",FLOAT16;FLOAT16,FRACTAL_Z;NC1HWC0",
                        "\"" + x + "\",FLOAT16,NC1HWC0") +
                    row("DepthwiseConv2DBackpropFilterD",
                        "\"" + x + ";" + x + "\",FLOAT16;FLOAT16,NC1HWC0;NC1HWC0",
                        "\"" + w + "\",FLOAT,FRACTAL_Z"));
  const std::string attrs = "stride=[1,1],padding=[1,1],groups=20";
  EXPECT_THAT(
      ids(cases),
      testing::IsSupersetOf(
          {"conv2d[1x20x8x8,20x1x3x3,fp16,NC1HWC0," + attrs + "]",
           "conv2d_grad_input[1x20x8x8,20x1x3x3,fp16,NC1HWC0," + attrs + ",input_size=[8,8]]",
           "conv2d_grad_weight[1x20x8x8,1x20x8x8,fp16,NC1HWC0," + attrs + ",kernel_size=[3,3]]"}));
}

constexpr const char* kCell = ", StorageShape = [], shapeRange = [], memtype = 0, isConst = 0 ";

std::string tensor_text(const std::string& shape) {
  return "[TensorDesc] DataType = 0, Format = 2, StorageFormat = -1, Shape = " + shape + kCell;
}

std::string constant_text(const std::string& shape, const std::string& values) {
  return "[TensorDesc] DataType = 9, Format = 2, StorageFormat = -1, Shape = " + shape +
         ", StorageShape = [], shapeRange = [], memtype = 1, isConst = " +
         (values.empty() ? "0 " : "true, Const Len = 1 , Const data = " + values + ", ");
}

NetworkCases cases_of_call(const std::string& op, const std::vector<std::string>& inputs,
                           const std::string& y) {
  IngestResult profile;
  std::string text = "aclopCompile::aclOp = OpType: " + op + ", ";
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    text += "InputDesc[" + std::to_string(i) + "]: " + inputs[i];
  }
  ingest_bytes(bytes_of(text + "OutputDesc[0]: " + tensor_text(y) + "\n"), "plog.log", profile);
  return cases_in(profile);
}

// The host passed axes, sizes and orders as tensors.
TEST(MappedOperators, TakeAttributesFromConstants) {
  const std::string cube = tensor_text("[4, 4, 4]");
  const NetworkCases transpose =
      cases_of_call("Transpose", {cube, constant_text("[3]", "0,2,1")}, "[4, 4, 4]");
  EXPECT_THAT(ids(transpose), ElementsAre("transpose[4x4x4,fp32,ND,perm=[0,2,1]]"));
  EXPECT_TRUE(transpose.cases.at(0).are_attrs_known);
  EXPECT_THAT(ids(cases_of_call("ReduceMean", {cube, constant_text("[1]", "1")}, "[4, 4]")),
              ElementsAre("reduce_mean[4x4x4,fp32,ND,axes=[1]]"));
  EXPECT_THAT(ids(cases_of_call("ReduceSum", {cube, constant_text("[1]", "-1")}, "[4, 4]")),
              ElementsAre("sum_to_size[4x4x4,fp32,ND,size=[4,4,1]]"));
  EXPECT_THAT(
      ids(cases_of_call("GatherV2", {cube, constant_text("[2]", "3,0"), constant_text("[1]", "2")},
                        "[4, 4, 2]")),
      ElementsAre("gather[4x4x4,2,fp32,ND,axis=2]"));
  EXPECT_THAT(ids(cases_of_call(
                  "Slice", {cube, constant_text("[3]", "1,0,2"), constant_text("[3]", "3,4,2")},
                  "[3, 4, 2]")),
              ElementsAre("contiguous[4x4x4,fp32,ND,view=slice(2,2,2,1).slice(0,1,3,1)]"));
  // The log lacks the numbers of this constant, so a value that fits the shapes is taken.
  const NetworkCases unknown =
      cases_of_call("Transpose", {cube, constant_text("[3]", "")}, "[4, 4, 4]");
  ASSERT_THAT(ids(unknown), SizeIs(1));
  EXPECT_FALSE(unknown.cases[0].are_attrs_known);
}

std::vector<std::string> ids_of_call(const std::string& op, const std::string& x,
                                     const std::string& y, const std::string& attrs) {
  IngestResult profile;
  ingest_bytes(
      bytes_of("aclopCompile::aclOp = OpType: " + op + ", InputDesc[0]: " + tensor_text(x) +
               "OutputDesc[0]: " + tensor_text(y) + "Attr: {" + attrs + "}\n"),
      "plog.log", profile);
  return ids(cases_in(profile));
}

// Source of ends and masks: the definition of TensorFlow's strided_slice.
TEST(MappedOperators, OfViewsAreWhereALogSays) {
  EXPECT_THAT(ids_of_call("SliceD", "[8, 9]", "[2, 9]", "offsets = [3, 0], size = [2, 9]"),
              ElementsAre("contiguous[8x9,fp32,ND,view=slice(0,3,2,1)]"));
  EXPECT_THAT(ids_of_call("StridedSliceD", "[8, 9]", "[4]",
                          "begin = [1, -1], end = [0, 9], strides = [2, 1], end_mask = 1, "
                          "shrink_axis_mask = 2"),
              ElementsAre("contiguous[8x9,fp32,ND,view=select(1,8).slice(0,1,4,2)]"));
  EXPECT_THAT(ids_of_call("AsStrided", "[4, 6]", "[3, 2]",
                          "size = [3, 2], stride = [1, 6], storage_offset = [2]"),
              ElementsAre("contiguous[4x6,fp32,ND,view=as_strided([3,2],[1,6],2)]"));
  // The view exceeds the tensor, so there is no case.
  EXPECT_THAT(ids_of_call("AsStrided", "[4, 6]", "[3, 2]",
                          "size = [3, 2], stride = [100, 6], storage_offset = [2]"),
              IsEmpty());
}

}  // namespace
}  // namespace opbench
