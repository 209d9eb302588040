#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/dump/dump_support.h"
#include "tests/support/source_tree.h"

namespace opbench::dump_tests {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Records of files in the layout of Ascend's dumper that opbench did not write:
// ascend_dumper/npu.h5 and cpu.h5.
std::vector<DumpRecord> by_number(DumpFile& reader) {
  std::vector<DumpRecord> records = reader.records();
  std::sort(records.begin(), records.end(),
            [](const DumpRecord& a, const DumpRecord& b) { return a.seq < b.seq; });
  return records;
}

std::vector<std::string> record_names(DumpFile& reader) {
  std::vector<std::string> names;
  for (const DumpRecord& record : by_number(reader)) {
    names.push_back(fmt::format("{} {}", record.seq_text, record.op));
  }
  return names;
}

std::vector<std::string> lines(const std::vector<DumpEntry>& entries) {
  std::vector<std::string> result;
  for (const DumpEntry& entry : entries) {
    EXPECT_EQ(entry.problem, "");
    EXPECT_EQ(entry.warning, "");
    const std::string format = entry.format ? std::string(name(*entry.format)) : "unknown";
    result.push_back(fmt::format(
        "{} {} {}", entry.name, to_string(entry.desc),
        entry.kind == EntryKind::tensor ? to_string(entry.device) + " " + format : "value"));
  }
  return result;
}

void expect_readable(DumpFile& reader) {
  for (const DumpRecord& record : reader.records()) {
    for (const auto& entries : {inputs_of(record), outputs_of(record)}) {
      EXPECT_FALSE(entries.empty());
      for (const DumpEntry& entry : entries) EXPECT_NO_THROW(read_all(reader, entry));
    }
  }
}

TEST(DumpSamples, NpuDump) {
  DumpFile reader(test_data("ascend_dumper/npu.h5"));
  EXPECT_THAT(reader.problems(), IsEmpty());
  EXPECT_THAT(
      record_names(reader),
      ElementsAre("1 NllLossBackward", "2 LogSoftmaxBackward", "3 AddmmBackward", "4 ReluBackward1",
                  "5 NativeBatchNormBackward", "6 NpuConvolutionBackward",
                  "7 NpuConvolutionBackward", "8 IndexSelectBackward", "9 DropoutBackward"));
  const auto records = by_number(reader);
  EXPECT_THAT(lines(inputs_of(records[0])),
              ElementsAre("ignore_index int64[scalar] ND value", "reduction int64[scalar] ND value",
                          "self fp32[16x10] ND NPU NCHW", "target int64[16] ND NPU NCHW"));
  EXPECT_THAT(lines(outputs_of(records[0])), ElementsAre("result fp32[scalar] ND NPU NCHW"));
  EXPECT_THAT(
      lines(inputs_of(records[2])),
      ElementsAre("alpha fp64[scalar] ND value", "beta fp64[scalar] ND value",
                  "mat1 fp16[16x32] ND NPU FRACTAL_NZ", "mat2 fp16[32x10] ND NPU FRACTAL_NZ"));
  EXPECT_THAT(lines(inputs_of(records[4])),
              ElementsAre("eps fp64[scalar] ND value", "input fp16[2x6x12x12] NCHW NPU NC1HWC0",
                          "save_mean fp32[6] ND NPU NCHW", "training bool[scalar] ND value"));
  EXPECT_THAT(lines(inputs_of(records[5])),
              ElementsAre("groups int64[scalar] ND value", "input fp16[2x6x12x12] NCHW NPU NC1HWC0",
                          "padding int64[2] ND value", "stride int64[2] ND value",
                          "weight fp16[8x6x3x3] NCHW NPU FRACTAL_Z"));
  EXPECT_THAT(lines(outputs_of(records[5])),
              ElementsAre("result/result_0 fp16[2x6x12x12] NCHW NPU NC1HWC0",
                          "result/result_1 fp16[8x6x3x3] NCHW NPU FRACTAL_Z"));
  EXPECT_THAT(lines(inputs_of(records[8])),
              ElementsAre("bytes uint8[5] ND NPU ND", "mask bool[64] ND NPU ND"));
  EXPECT_THAT(lines(outputs_of(records[8])), ElementsAre("result fp32[0x4] ND NPU NCHW"));
  expect_readable(reader);
}

TEST(DumpSamples, CpuDump) {
  DumpFile reader(test_data("ascend_dumper/cpu.h5"));
  EXPECT_THAT(reader.problems(), IsEmpty());
  EXPECT_THAT(
      record_names(reader),
      ElementsAre("1 NllLossBackward", "2 LogSoftmaxBackward", "3 AddmmBackward", "4 ReluBackward1",
                  "5 CudnnBatchNormBackward", "6 CudnnConvolutionBackward",
                  "7 CudnnConvolutionBackward", "8 IndexSelectBackward", "9 DropoutBackward"));
  EXPECT_THAT(lines(inputs_of(by_number(reader)[7])),
              ElementsAre("index int64[6] ND CPU NCHW", "self fp32[2x6x12x12] NCHW CPU NCHW"));
  expect_readable(reader);
}

}  // namespace
}  // namespace opbench::dump_tests
