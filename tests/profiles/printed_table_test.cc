// Tables that PyTorch 1.13 printed, and the columns that torch_npu prints.
#include <gmock/gmock.h>

#include "profiles/text_profiles.h"
#include "tests/profiles/profiles.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const TraceOperator& operator_named(const IngestResult& result, std::string_view name) {
  for (const TraceOperator& one : result.trace.operators()) {
    if (one.name == name) return one;
  }
  throw std::runtime_error("no operator " + std::string(name));
}

// The table has 12 of all rows: 132.115 ms and eleven times of 229 us and less, of 133.537 ms.
TEST(PrintedTable, OfACpuHasOperatorsOfTheHost) {
  const IngestResult result = ingest_samples({"printed_tables/torch_1.13_key_averages.txt"});
  EXPECT_EQ(result.files[0].kind, "printed table");
  EXPECT_EQ(result.files[0].rows, 12);
  EXPECT_THAT(result.files[0].problems, IsEmpty());
  EXPECT_EQ(result.hot_spots.computing().count, 0);
  const TraceOperator& add = operator_named(result, "aten::add_");
  EXPECT_EQ(add.calls, 21);
  EXPECT_EQ(add.host_self_ns, 69'000);
  EXPECT_FALSE(add.memory);
  EXPECT_THAT(result.warnings, IsEmpty());
}

// "34.66 Kb" are 35491 bytes, "8.12 Kb" 8314, as rounded by PyTorch.
TEST(PrintedTable, HasShapesAndMemoryIfTheyWereProfiled) {
  const IngestResult result = ingest_samples({"printed_tables/torch_1.13_shapes_memory.txt"});
  const TraceOperator& norm = operator_named(result, "aten::batch_norm");
  EXPECT_EQ(norm.input_shapes, "2,8,8,8;8;8;8;8;;;;");
  ASSERT_TRUE(norm.memory);
  EXPECT_EQ(norm.memory->host_self, 8314);
  EXPECT_EQ(norm.memory->device, 0);
  EXPECT_EQ(operator_named(result, "aten::empty").memory->host, 35491);
  EXPECT_EQ(result.trace.host_operators, result.trace.host_operators_with_shapes);
  EXPECT_THAT(result.warnings, ElementsAre(HasSubstr("% of the host's time")));
}

TEST(PrintedTable, SkipsFurtherLinesOfCallStacks) {
  const IngestResult result = ingest_samples({"printed_tables/torch_1.13_stacks_flops.txt"});
  EXPECT_EQ(result.files[0].rows, 10);
  EXPECT_EQ(result.files[0].skipped, 0);
  EXPECT_EQ(operator_named(result, "aten::conv2d").host_self_ns, 161'000);
}

constexpr const char* kNpu =
    "epoch 1\n"
    "--------  ----------  --------  -----------  ---------  --------  ----------  ---------  "
    "---------  ------------  ----------\n"
    "    Name  Self CPU %  Self CPU  CPU total %  CPU total  Self NPU  Self NPU %  NPU total  "
    "  NPU Mem  Self NPU Mem  # of Calls\n"
    "--------  ----------  --------  -----------  ---------  --------  ----------  ---------  "
    "---------  ------------  ----------\n"
    "aten::mm      50.00%  10.000us       50.00%   10.000us   1.500ms      75.00%    1.500ms  "
    "  2.00 Mb       2.00 Mb           3\n"
    "aten::to      50.00%  10.000us       50.00%   10.000us   0.500ms      25.00%    0.500ms  "
    " -1.00 Kb      -1.00 Kb           1\n"
    "  kernel       0.00%   0.000us        0.00%    0.000us   2.000ms       0.00%    2.000ms  "
    "      0 b           0 b           4\n"
    "--------  ----------  --------  -----------  ---------  --------  ----------  ---------  "
    "---------  ------------  ----------\n"
    "Self CPU time total: 20.000us\n"
    "Self NPU time total: 2.000ms\n";

// The rows of kernels have the time of their operators again.
TEST(PrintedTable, OfAnNpuHasTasks) {
  const IngestResult result = ingest_text(std::string(kNpu) + kNpu);
  EXPECT_EQ(result.hot_spots.computing().total_ps, 2000 * kUs);
  EXPECT_EQ(result.hot_spots.computing().count, 4);
  const HotOperator first = result.hot_spots.operators()[0];
  EXPECT_EQ(first.type, "aten::mm");
  EXPECT_EQ(first.time.count, 3);
  ASSERT_TRUE(first.host);
  EXPECT_EQ(result.trace.operators()[*first.host].memory->device_self, 2 << 20);
  EXPECT_EQ(operator_named(result, "aten::to").memory->device, -1024);
  EXPECT_THAT(result.warnings, ElementsAre("t.csv: only the first of its tables is read"));
}

// PyTorch 1.5 has other headers, and the time of a device includes that of operators inside.
TEST(PrintedTable, ReadsTheHeadersOfOldVersions) {
  const IngestResult result = ingest_text(
      "----  ----------------  --------------  ---------  ----------  ---------------  "
      "------------\n"
      "Name  Self CPU total %  Self CPU total  CPU total  CUDA total  Number of Calls  Input "
      "Shapes\n"
      "----  ----------------  --------------  ---------  ----------  ---------------  "
      "------------\n"
      "mul   100.00%           12.000us        12.000us   30.000us    2                [[4, 4], "
      "[]]\n"
      "add   100.00%           soon            12.000us   30.000us    2                [[4, 4], "
      "[4]\n"
      "----  ----------------  --------------  ---------  ----------  ---------------  "
      "------------\n");
  EXPECT_EQ(result.hot_spots.computing().total_ps, 30 * kUs);
  EXPECT_EQ(operator_named(result, "mul").input_shapes, "4,4;");
  EXPECT_THAT(result.files[0].problems,
              ElementsAre("t.csv:5: a row without a time or a number of calls"));
  EXPECT_THAT(result.warnings, ElementsAre(HasSubstr("include operators inside")));
}

}  // namespace
}  // namespace opbench
