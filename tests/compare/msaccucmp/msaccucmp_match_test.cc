// Expected rows follow msaccucmp.py of CANN 8.1, rule by rule. Tests in tests/cli compare with its
// results on real files.
#include "compare/msaccucmp/msaccucmp_match.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/compare/dump_records.h"

namespace opbench {
namespace {

using compare_tests::cpu;
using compare_tests::gpu;
using compare_tests::npu;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

// The rows as "index npu_dump npu_path golden_path", and the reason if there is a reason.
std::vector<std::string> lines(const std::vector<MsaccucmpRow>& rows) {
  std::vector<std::string> result;
  for (const MsaccucmpRow& row : rows) {
    EXPECT_EQ(row.reason.empty(), row.tensors.actual != nullptr && row.tensors.expected != nullptr);
    result.push_back(fmt::format("{} {} {} {}{}", row.index, row.npu_dump, row.npu_path(),
                                 row.golden_path(), row.reason.empty() ? "" : " " + row.reason));
  }
  return result;
}

std::vector<std::string> match(const std::vector<DumpRecord>& a, const std::vector<DumpRecord>& b) {
  return lines(match_as_msaccucmp(a, b));
}

TEST(MsaccucmpMatch, KthExecutionWithKthByNumber) {
  EXPECT_THAT(match(npu({{"Add", "10", {"input/x"}}, {"Add", "9", {"input/x"}}}),
                    gpu({{"Add", "100", {"input/x"}}, {"Add", "80", {"input/x"}}})),
              ElementsAre("9 Add /Add/9/input/x /Add/80/input/x",
                          "10 Add /Add/10/input/x /Add/100/input/x"));
}

TEST(MsaccucmpMatch, MappedOperatorsAndParameters) {
  EXPECT_THAT(match(npu({{"NpuConvolutionBackward", "6", {"input/input", "output/r"}}}),
                    gpu({{"CudnnConvolutionBackward", "1", {"input/self", "output/r"}}})),
              ElementsAre("6 NpuConvolutionBackward /NpuConvolutionBackward/6/input/input "
                          "/CudnnConvolutionBackward/1/input/self",
                          "6 NpuConvolutionBackward /NpuConvolutionBackward/6/output/r "
                          "/CudnnConvolutionBackward/1/output/r"));
}

TEST(MsaccucmpMatch, BothConvolutionGradientsOfTheGoldenDumpAreCountedTogether) {
  EXPECT_THAT(match(npu({{"NpuConvolutionBackward", "1", {"input/x"}},
                         {"NpuConvolutionBackward", "2", {"input/x"}}}),
                    gpu({{"CudnnConvolutionBackward", "9", {"input/x"}},
                         {"ThnnConvDepthwise2DBackward", "8", {"input/x"}}})),
              ElementsAre("1 NpuConvolutionBackward /NpuConvolutionBackward/1/input/x "
                          "/ThnnConvDepthwise2DBackward/8/input/x",
                          "2 NpuConvolutionBackward /NpuConvolutionBackward/2/input/x "
                          "/CudnnConvolutionBackward/9/input/x"));
}

TEST(MsaccucmpMatch, PrefixFollowsTheGoldenDevice) {
  const auto mine = npu({{"NpuTanh", "1", {"input/x"}}});
  EXPECT_THAT(match(mine, gpu({{"CudnnTanh", "4", {"input/x"}}})),
              ElementsAre("1 NpuTanh /NpuTanh/1/input/x /CudnnTanh/4/input/x"));
  EXPECT_THAT(match(mine, cpu({{"ThnnTanh", "4", {"input/x"}}})),
              ElementsAre("1 NpuTanh /NpuTanh/1/input/x /ThnnTanh/4/input/x"));
  EXPECT_THAT(match(mine, gpu({{"ThnnTanh", "4", {"input/x"}}})),
              ElementsAre("1 NpuTanh NaN NaN No data match with op:NpuTanh in golden dump data."));
}

TEST(MsaccucmpMatch, ForwardMatchOfCudnnIsReportedAsLeftOverToo) {
  EXPECT_THAT(match(npu({{"CudnnPool", "1", {"input/x"}}}), gpu({{"NpuPool", "4", {"input/x"}}})),
              ElementsAre("1 CudnnPool /CudnnPool/1/input/x /NpuPool/4/input/x",
                          "2 NaN NaN /NpuPool/4 No data match with /NpuPool/4 in my dump data."));
}

TEST(MsaccucmpMatch, PartOfAnOperatorIsNamedTensorByTensor) {
  EXPECT_THAT(
      match(npu({{"Part", "5", {"input/a", "input/mine", "output/c"}}}),
            gpu({{"Part", "7", {"input/a", "input/theirs"}}})),
      ElementsAre(
          "5 Part /Part/5/input/a /Part/7/input/a",
          "5 Part /Part/5/input/mine NaN No data match with /Part/5/input/mine in golden dump "
          "data.",
          "5 Part /Part/5/output/c NaN No data match with /Part/5/output/c in golden dump data.",
          "5 Part NaN /Part/7/input/theirs No data match with /Part/7/input/theirs in my dump "
          "data."));
}

TEST(MsaccucmpMatch, LeftOverExecutionsComeAfterTheLargestNumber) {
  EXPECT_THAT(match(npu({{"A", "3", {"input/x"}}, {"B", "41", {}}}),
                    gpu({{"A", "1", {"input/x"}}, {"A", "2", {"input/x"}}})),
              ElementsAre("3 A /A/3/input/x /A/1/input/x",
                          "42 NaN NaN /A/2 No data match with /A/2 in my dump data."));
}

TEST(MsaccucmpMatch, WithoutInputsNumbersMustBeEqual) {
  EXPECT_THAT(
      match(npu({{"A", "12", {"output/r"}}, {"A", "13", {"output/r"}}}),
            gpu({{"A", "12", {"input/x", "output/r"}}, {"A", "14", {"input/x", "output/r"}}})),
      ElementsAre("12 A /A/12/output/r /A/12/output/r",
                  "13 A NaN NaN No data match with op:A in golden dump data.",
                  "14 NaN NaN /A/14 No data match with /A/14 in my dump data."));
}

// The search for golden data does not require an execution of that number: the path alone decides.
TEST(MsaccucmpMatch, WithoutInputsAMissingExecutionShiftsNothing) {
  EXPECT_THAT(match(npu({{"A", "14", {"output/r"}}, {"NpuTanh", "16", {"output/r"}}}),
                    gpu({{"A", "12", {"output/r"}},
                         {"A", "14", {"output/r"}},
                         {"CudnnTanh", "15", {"output/r"}},
                         {"CudnnTanh", "16", {"output/r", "output/s"}}})),
              ElementsAre("14 A /A/14/output/r /A/14/output/r",
                          "16 NpuTanh /NpuTanh/16/output/r /CudnnTanh/16/output/r",
                          "17 NaN NaN /A/12 No data match with /A/12 in my dump data.",
                          "17 NaN NaN /CudnnTanh/15 No data match with /CudnnTanh/15 in my dump "
                          "data.",
                          "17 NpuTanh NaN /CudnnTanh/16/output/s No data match with "
                          "/CudnnTanh/16/output/s in my dump data."));
}

// An `input` group is enough, even if it is empty or contains only scalars.
TEST(MsaccucmpMatch, AnInputOfAnyKindMeansThatNumbersNeedNotBeEqual) {
  auto mine = npu({{"A", "12", {"output/r"}}});
  const auto theirs = gpu({{"A", "3", {"output/r"}}});
  const auto pair = ElementsAre("12 A /A/12/output/r /A/3/output/r");
  EXPECT_THAT(match(mine, theirs), Not(pair));
  mine[0].has_input_group = true;
  EXPECT_THAT(match(mine, theirs), pair);
  mine[0].has_input_group = false;
  mine[0].entries.push_back(compare_tests::entry("A", "12", "input/alpha", DeviceType::npu, {}));
  mine[0].entries.back().kind = EntryKind::scalar;
  mine[0].entries.back().attributes.type = 7;
  EXPECT_THAT(match(mine, theirs), pair);
}

TEST(MsaccucmpMatch, WhatIsLeftOfOperatorsThatAreCountedTogetherComesByNumber) {
  const std::string cudnn = "CudnnConvolutionBackward", thnn = "ThnnConvDepthwise2DBackward";
  std::vector<std::string> paths;
  for (const MsaccucmpRow& row :
       match_as_msaccucmp(npu({{"A", "1", {"input/x"}}}), gpu({{cudnn, "2", {"input/x"}},
                                                               {thnn, "3", {"input/x"}},
                                                               {cudnn, "4", {"input/x"}},
                                                               {"Mul", "5", {"input/x"}},
                                                               {thnn, "6", {"input/x"}}}))) {
    paths.emplace_back(row.golden_path());
  }
  EXPECT_THAT(paths, ElementsAre("NaN", "/" + cudnn + "/2", "/" + thnn + "/3", "/" + cudnn + "/4",
                                 "/" + thnn + "/6", "/Mul/5"));
}

// The two operators are counted by the union of their numbers.
TEST(MsaccucmpMatch, OperatorsThatAreCountedTogetherShareANumber) {
  EXPECT_THAT(match(npu({{"NpuConvolutionBackward", "1", {"input/x"}},
                         {"NpuConvolutionBackward", "2", {"input/x"}}}),
                    gpu({{"CudnnConvolutionBackward", "8", {"input/x"}},
                         {"ThnnConvDepthwise2DBackward", "8", {"input/x"}},
                         {"ThnnConvDepthwise2DBackward", "9", {"input/x"}}})),
              ElementsAre("1 NpuConvolutionBackward /NpuConvolutionBackward/1/input/x "
                          "/CudnnConvolutionBackward/8/input/x",
                          "2 NpuConvolutionBackward /NpuConvolutionBackward/2/input/x "
                          "/ThnnConvDepthwise2DBackward/9/input/x"));
}

// Only golden outputs are listed, so the inputs' device has no effect.
TEST(MsaccucmpMatch, WithoutInputsTheDeviceIsThatOfTheGoldenOutputs) {
  auto theirs = cpu({{"ThnnTanh", "1", {"input/x", "output/r"}}});
  theirs[0].entries[0] = compare_tests::entry("ThnnTanh", "1", "input/x", DeviceType::cuda);
  EXPECT_THAT(match(npu({{"NpuTanh", "1", {"output/r"}}}), theirs),
              ElementsAre("1 NpuTanh /NpuTanh/1/output/r /ThnnTanh/1/output/r"));
}

TEST(MsaccucmpMatch, OperatorsWithoutTensorsHaveNoRow) {
  EXPECT_THAT(match(npu({{"A", "1", {}}}), gpu({{"B", "1", {}}})), IsEmpty());
}

TEST(MsaccucmpMatch, NamesThatAreNoNumbersComeLastAndKeepTheirName) {
  EXPECT_THAT(
      match(npu({{"A", "step1", {"input/x"}}, {"B", "7", {"input/x"}}}),
            gpu({{"A", "2", {"input/x"}}, {"B", "007", {"input/x"}}})),
      ElementsAre("7 B /B/7/input/x /B/007/input/x", "step1 A /A/step1/input/x /A/2/input/x"));
}

TEST(MsaccucmpMatch, AnotherMapAddsNames) {
  NameMap map = default_name_map();
  map.ops["Mine"] = {"Theirs"};
  map.params["Mine"]["x"] = "y";
  const auto a = npu({{"Mine", "1", {"input/x"}}});
  const auto b = gpu({{"Theirs", "1", {"input/y"}}});
  EXPECT_EQ(match_as_msaccucmp(a, b, map).at(0).golden_path(), "/Theirs/1/input/y");
}

TEST(MsaccucmpMatch, DeviceIsTheFirstThatIsNotTheCpu) {
  EXPECT_EQ(device_of(cpu({{"A", "1", {"input/x"}}})), DeviceType::cpu);
  auto mixed = cpu({{"A", "1", {"input/x"}}});
  mixed.push_back(gpu({{"B", "2", {"input/x"}}}).front());
  EXPECT_EQ(device_of(mixed), DeviceType::cuda);
}

}  // namespace
}  // namespace opbench
