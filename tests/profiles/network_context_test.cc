#include "profiles/network_context.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <regex>
#include <sstream>

#include "harness/plan/case_files.h"
#include "tests/profiles/context_graphs.h"
#include "tests/profiles/profiles.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A row of a table: the type, the time, and tensors as "4,8 FLOAT ND", separated by ";".
struct TaskRow {
  std::string type;
  int start = 0;
  std::string inputs, outputs;
  int stream = 0;
  double duration = 1;
};

std::string column(const std::string& tensors, std::size_t part) {
  std::string all;
  std::istringstream list(tensors);
  for (std::string tensor; std::getline(list, tensor, ';');) {
    std::istringstream words(tensor);
    std::string word;
    for (std::size_t i = 0; i <= part; ++i) words >> word;
    all += (all.empty() ? "" : ";") + word;
  }
  return '"' + all + '"';
}

std::string table(const std::vector<TaskRow>& rows) {
  std::string text =
      "Name,Type,Accelerator Core,Stream ID,Start Time(us),Duration(us),Wait Time(us),Block Dim,"
      "Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output "
      "Formats\n";
  for (const TaskRow& row : rows) {
    text += fmt::format("{}_{},{},AI_CORE,{},{},{},0,1", row.type, row.start, row.type, row.stream,
                        row.start, row.duration);
    for (const std::string& tensors : {row.inputs, row.outputs}) {
      for (const std::size_t part : {0, 1, 2}) text += ',' + column(tensors, part);
    }
    text += '\n';
  }
  return text;
}

class NetworkContextTest : public testing::Test, protected TempDir {
 protected:
  NetworkContext context(const std::string& text, const ContextWish& wish) const {
    const IngestResult profile = ingest_files(
        {write("t.csv", text)}, [](const std::string&) {}, [] { return false; });
    return context_of(profile, wish, [] { return false; });
  }
  NetworkContext context(const std::vector<TaskRow>& rows, const ContextWish& wish) const {
    return context(table(rows), wish);
  }

  // The reason why there is no context.
  std::string refusal(const std::string& text, const ContextWish& wish) const {
    try {
      context(text, wish);
    } catch (const NoContext& none) {
      return none.what();
    }
    return "none";
  }
};

const std::string kX = "4,8 FLOAT ND";

const std::vector<TaskRow> kChain = {{"Relu", 1, kX, kX},       {"Exp", 2, kX, kX},
                                     {"Tanh", 3, kX, kX, 0, 9}, {"Sigmoid", 4, kX, kX},
                                     {"Sqrt", 5, kX, kX},       {"Log", 6, kX, kX}};

TEST_F(NetworkContextTest, TakesProducersAndConsumersUpToADepth) {
  EXPECT_THAT(graph(context(kChain, {"", 0})), ElementsAre("tanh(self_of_tanh) -> tanh"));
  EXPECT_THAT(
      graph(context(kChain, {"", 1})),
      ElementsAre("exp(self_of_exp) -> exp", "tanh(exp) -> tanh", "sigmoid(tanh) -> sigmoid"));
  const NetworkContext two = context(kChain, {"", 2});
  EXPECT_THAT(graph(two),
              ElementsAre("relu(self_of_relu) -> relu", "exp(relu) -> exp", "tanh(exp) -> tanh",
                          "sigmoid(tanh) -> sigmoid", "sqrt(sigmoid) -> sqrt"));
  EXPECT_EQ(two.found.edges, 4);
  EXPECT_THAT(two.found.outputs, ElementsAre("sqrt"));
  EXPECT_THAT(text_of_context(two), HasSubstr("name: around_tanh\n"));
}

TEST_F(NetworkContextTest, SortsByTimeAndKeepsToOneStream) {
  std::vector<TaskRow> rows = {kChain[3], kChain[0], kChain[2], kChain[5], kChain[1], kChain[4]};
  for (int start = 1; start < 7; ++start) rows.push_back({"Abs", start, kX, kX, 1, 0.5});
  const NetworkContext found = context(rows, {"", 2});
  EXPECT_THAT(graph(found),
              ElementsAre("relu(self_of_relu) -> relu", "exp(relu) -> exp", "tanh(exp) -> tanh",
                          "sigmoid(tanh) -> sigmoid", "sqrt(sigmoid) -> sqrt"));
  EXPECT_EQ(found.stream, "0");
}

// Rows that arrive after later rows have left the buffer are left out and counted.
TEST_F(NetworkContextTest, LeavesOutWhatComesTooLate) {
  std::vector<TaskRow> rows;
  for (int start = 5000; start > 0; --start) rows.push_back({"Relu", start, kX, kX});
  const NetworkContext found = context(rows, {"", 1});
  EXPECT_EQ(found.late, 5000 - 4097);
  std::ostringstream out;
  print_network_context(out, found, {}, {});
  EXPECT_THAT(out.str(),
              HasSubstr("  903 tasks came too late to be put in order, and are left out\n"));
}

// Reading ends after the last window, because a million rows may follow.
TEST_F(NetworkContextTest, KeepsTheTasksAround) {
  std::vector<TaskRow> rows;
  for (int start = 1; start < 3000; ++start) rows.push_back({"Relu", start, kX, kX});
  rows[1500] = {"Tanh", 1501, kX, kX, 0, 1e6};
  const NetworkContext found = context(rows, {"tanh", 2});
  EXPECT_THAT(found.calls, SizeIs(512 + 1 + 512));
  EXPECT_EQ(found.centre, 512);
  EXPECT_THAT(graph(found), SizeIs(5));
}

TEST_F(NetworkContextTest, AtTheEndsOfAFileHasWhatIsThere) {
  EXPECT_THAT(graph(context(kChain, {"relu", 1})),
              ElementsAre("relu(self_of_relu) -> relu", "exp(relu) -> exp"));
  EXPECT_THAT(graph(context(kChain, {"LOG", 1})),
              ElementsAre("sqrt(self_of_sqrt) -> sqrt", "log(sqrt) -> log"));
}

// The first Tanh has no call before it.
TEST_F(NetworkContextTest, IsTheFirstCallWithBothSides) {
  std::vector<TaskRow> rows = kChain;
  rows.insert(rows.begin(), {"Tanh", 0, kX, kX});
  const NetworkContext found = context(rows, {"tanh", 1});
  EXPECT_EQ(found.calls[found.centre].at.line, 5);
  EXPECT_THAT(graph(found), SizeIs(3));
}

// A product [4,6] x [6,8], then tanh, and their sum. Both tensors of this shape are read.
TEST_F(NetworkContextTest, InputsOfOneCallAreDifferentTensors) {
  const NetworkContext found =
      context(std::vector<TaskRow>{{"MatMulV2", 1, "4,6 FLOAT ND;6,8 FLOAT ND", kX},
                                   {"Tanh", 2, kX, kX},
                                   {"Add", 3, kX + ";" + kX, kX, 0, 5}},
              {"", 2});
  EXPECT_THAT(graph(found), ElementsAre("matmul(self_of_matmul, mat2_of_matmul) -> matmul",
                                        "tanh(matmul) -> tanh", "add(tanh, matmul) -> add"));
  EXPECT_EQ(found.found.edges, 3);
  EXPECT_EQ(found.found.ambiguous, 0);
}

// Two products have the same shape. Reading the later one is a guess.
TEST_F(NetworkContextTest, CountsWhatCouldBeAnotherTensor) {
  const std::string operands = "4,6 FLOAT ND;6,8 FLOAT ND";
  const NetworkContext found = context(
      std::vector<TaskRow>{
          {"MatMulV2", 1, operands, kX}, {"MatMulV2", 2, operands, kX}, {"Tanh", 3, kX, kX, 0, 9}},
      {"", 1});
  EXPECT_THAT(graph(found), ElementsAre("matmul(self_of_matmul, mat2_of_matmul) -> matmul",
                                        "tanh(matmul) -> tanh"));
  EXPECT_EQ(found.calls[found.found.nodes[0].call].at.line, 3);
  EXPECT_EQ(found.found.ambiguous, 1);
  EXPECT_THAT(text_of_context(found), HasSubstr("\n      # ambiguous: matmul\n"));
}

TEST_F(NetworkContextTest, SeesThroughConversions) {
  const std::string plain = "2,32,8,8 FLOAT NCHW", stored = "2,2,8,8,16 FLOAT NC1HWC0";
  const NetworkContext found = context(
      std::vector<TaskRow>{
          {"TransData", 1, plain, stored},
          {"TransData", 2, "32,32,1,1 FLOAT NCHW", "2,2,16,16 FLOAT FRACTAL_Z"},
          {"Conv2D", 3, stored + ";2,2,16,16 FLOAT FRACTAL_Z;32 FLOAT ND", stored, 0, 9},
          {"TransData", 4, stored, plain},
          {"Relu", 5, plain, plain},
          {"TransData", 6, plain, stored},
          {"Tanh", 7, stored, stored}},
      {"", 2});
  EXPECT_THAT(graph(found),
              ElementsAre("conv2d(self_of_conv2d, weight_of_conv2d, bias_of_conv2d) -> conv2d",
                          "relu(conv2d) -> relu", "tanh(relu) -> tanh"));
  EXPECT_EQ(found.found.trans_data, 4);
  ASSERT_THAT(found.found.inputs, SizeIs(3));
  EXPECT_FALSE(found.found.inputs[0].is_parameter);
  EXPECT_FALSE(found.found.inputs[0].format.has_value());
  EXPECT_TRUE(found.found.inputs[1].is_parameter);
  EXPECT_EQ(found.found.inputs[1].shape, (Dims{32, 32, 1, 1}));
  EXPECT_THAT(text_of_context(found), HasSubstr("conversions skipped: 4 TransData, 0 Cast."));
}

TEST_F(NetworkContextTest, SaysHowTensorsArriveFromOutside) {
  const std::string stored = "2,2,8,8,16 FLOAT NC1HWC0";
  const NetworkContext found = context(std::vector<TaskRow>{{"Relu", 1, stored, stored}}, {"", 1});
  EXPECT_THAT(text_of_context(found),
              HasSubstr("      self_of_relu: {shape: [2, 32, 8, 8], format: NC1HWC0}\n"));
}

// The cube unit takes fp16, and all other tensors are fp32. A context adds these casts itself.
TEST_F(NetworkContextTest, SeesThroughCastsAroundTheCubeUnit) {
  const auto half = [](std::string tensor) {
    return tensor.replace(tensor.find("FLOAT"), 5, "FLOAT16");
  };
  const std::string a = "4,6 FLOAT ND", b = "6,8 FLOAT ND";
  const std::vector<TaskRow> rows = {
      {"Relu", 1, a, a},         {"Cast", 2, a, half(a)},
      {"Cast", 3, b, half(b)},   {"MatMulV2", 4, half(a) + ";" + half(b), half(kX), 0, 9},
      {"Cast", 5, half(kX), kX}, {"Tanh", 6, kX, kX}};
  const NetworkContext found = context(rows, {"", 1});
  EXPECT_THAT(graph(found),
              ElementsAre("relu(self_of_relu) -> relu", "matmul(relu, mat2_of_matmul) -> matmul",
                          "tanh(matmul) -> tanh"));
  EXPECT_EQ(found.found.dtype, DType::fp32);
  EXPECT_EQ(found.found.casts, 3);
  // One operand comes in fp16 from elsewhere, so the product stays in fp16.
  std::vector<TaskRow> mixed = rows;
  mixed.erase(mixed.begin() + 2);
  EXPECT_THAT(graph(context(mixed, {"", 1})),
              ElementsAre("cast(x_of_cast) -> cast", "matmul(cast, mat2_of_matmul) -> matmul",
                          "cast(matmul) -> cast.2"));
}

TEST_F(NetworkContextTest, EndsAtWhatIsNoCase) {
  std::vector<TaskRow> rows = kChain;
  rows[1].type = rows[3].type = "Mystery";
  const NetworkContext found = context(rows, {"", 2});
  EXPECT_THAT(graph(found), ElementsAre("tanh(self_of_tanh) -> tanh"));
  EXPECT_THAT(
      found.found.left_out,
      ElementsAre("Mystery (t.csv:3), which makes an input: no operator of that name is known",
                  "Mystery (t.csv:5), which reads a result: no operator of that name is known"));
  EXPECT_THAT(text_of_context(found), HasSubstr("\n# left out: Mystery (t.csv:3), which makes"));
}

// The scale of a gradient is one of many single numbers. It is not linked to a much earlier loss.
TEST_F(NetworkContextTest, LinksSingleElementsToTheCallBeforeOnly) {
  const std::string one = "1 FLOAT ND";
  const NetworkContext found = context(
      std::vector<TaskRow>{
          {"Abs", 1, one, one}, {"Relu", 2, kX, kX}, {"Mul", 3, kX + ";" + one, kX, 0, 9}},
      {"", 2});
  EXPECT_THAT(graph(found),
              ElementsAre("relu(self_of_relu) -> relu", "mul(relu, x2_of_mul) -> mul"));
}

// Indices must be inside the range. Results of other operators need not be, so they are not linked
// as indices.
TEST_F(NetworkContextTest, LeavesIndicesOutside) {
  const std::string index = "5 INT32 ND";
  const NetworkContext found = context(
      std::vector<TaskRow>{{"Cast", 1, "5 INT64 ND", index},
                           {"GatherV2", 2, kX + ";" + index + ";1 INT64 ND", "5,8 FLOAT ND", 0, 9}},
      {"", 2});
  EXPECT_THAT(graph(found), ElementsAre("gather(x_of_gather, indices_of_gather) -> gather"));
}

TEST_F(NetworkContextTest, FindsATaskByAPartOfItsName) {
  EXPECT_THAT(graph(context(kChain, {"moid_4", 0})),
              ElementsAre("sigmoid(self_of_sigmoid) -> sigmoid"));
  EXPECT_EQ(refusal(table(kChain), {"Nothing", 1}),
            "no type or name has 'Nothing' in it; without --around: the hottest operator");
}

TEST_F(NetworkContextTest, SaysWhyThereIsNone) {
  EXPECT_EQ(refusal(table({{"TransData", 1, "2,32,8,8 FLOAT NCHW", "2,2,8,8,16 FLOAT NC1HWC0"}}),
                    {"transdata", 1}),
            "TransData is a conversion, which contexts plan themselves");
  EXPECT_EQ(
      refusal(table({{"Mystery", 1, kX, kX}}), {}),
      "no operator with an order can be a case: Mystery cannot be a case: no operator of that name "
      "is known");
  EXPECT_THAT(refusal("OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max "
                      "Time(us),Ratio(%)\nRelu,AI_CORE,1,1,1,1,1,100\n",
                      {}),
              AllOf(HasSubstr("t.csv: op_statistic has no calls in order"),
                    HasSubstr("kernel_details.csv")));
  const std::string without =
      std::regex_replace(table(kChain), std::regex("AI_CORE,0,[0-9]+,"), "AI_CORE,0,N/A,");
  EXPECT_THAT(refusal(without, {}), HasSubstr("tasks have no start times"));
}

TEST_F(NetworkContextTest, TakesLogsInOrderOfTheirTimes) {
  const auto call = [](const std::string& op, const std::string& time) {
    const auto tensor = [](const std::string& side) {
      return side +
             "Desc[0]: [TensorDesc] DataType = 0, Format = 2, StorageFormat = 2, Shape = [4, 8], "
             "StorageShape = [4, 8], shapeRange = [], memtype = 0, isConst = 0 ";
    };
    return "[INFO] ASCENDCL(1,python):2023-01-09-11:04:" + time +
           " [acl]aclopCompile::aclOp = OpType: " + op + ", " + tensor("Input") + tensor("Output") +
           "\n";
  };
  const std::string log =
      call("Tanh", "02.000.000") + call("Relu", "01.000.000") + call("Sqrt", "03.000.000");
  EXPECT_THAT(
      graph(context(log, {"tanh", 1})),
      ElementsAre("relu(self_of_relu) -> relu", "tanh(relu) -> tanh", "sqrt(tanh) -> sqrt"));
  EXPECT_THAT(refusal(log, {"conv", 1}), HasSubstr("no type or name has 'conv' in it"));
}

TEST_F(NetworkContextTest, NamesWithLineBreaksStayInTheirComments) {
  std::vector<TaskRow> rows = kChain;
  std::string text = table(rows);
  text.replace(text.find("Tanh_3"), 6, "\"Tanh\nnodes: [}\"");
  EXPECT_THAT(graph(context(text, {"", 1})), SizeIs(3));
}

// Every sample with an order, around each operator that may be in the middle.
TEST_F(NetworkContextTest, OfSamplesAreContexts) {
  for (const std::string sample :
       {"kernel_details/alexnet_level1_rank0.csv", "kernel_details/gpt_fp16_aicpu_arith.csv",
        "op_summary/op_summary_0_1_1_SYNTHETIC_cann51_resnet50_bs16.csv",
        "host_logs/plog-27441_20230109110428123.log"}) {
    const IngestResult profile = ingest_samples({sample});
    for (const std::string around :
         {"", "Conv2D", "Relu", "MatMul", "Add", "ReduceSum", "Cast", "Mul"}) {
      for (const int depth : {0, 1, 3}) {
        SCOPED_TRACE(fmt::format("{} {} {}", sample, around, depth));
        try {
          graph(context_of(profile, {around, depth}, [] { return false; }));
        } catch (const NoContext&) {
        }
      }
    }
  }
}

// AlexNet's second convolution has the neighbours of torchvision's network.
TEST_F(NetworkContextTest, OfAlexNetsSecondConvolution) {
  const NetworkContext found =
      context_of(ingest_samples({"kernel_details/alexnet_level1_rank0.csv"}), {"Conv2D2", 1},
                 [] { return false; });
  EXPECT_THAT(graph(found),
              ElementsAre("max_pool2d(self_of_max_pool2d) -> max_pool2d",
                          "conv2d(max_pool2d, weight_of_conv2d, bias_of_conv2d) -> conv2d",
                          "relu(conv2d) -> relu"));
  EXPECT_EQ(found.found.trans_data, 5);
  EXPECT_THAT(found.found.left_out, IsEmpty());
}

}  // namespace
}  // namespace opbench
