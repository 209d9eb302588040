#include "harness/run/benchmark_name.h"

#include <gmock/gmock.h>

#include "tests/support/records.h"

namespace opbench {
namespace {

Record record(const std::string& variant, const std::string& isa, bool cold = false) {
  Record record = record_of("relu[64,fp32]", variant);
  record.threads = 2;
  record.isa = isa;
  record.cold = cold;
  return record;
}

}  // namespace

TEST(BenchmarkName, SaysWhatWasMeasuredHow) {
  EXPECT_EQ(benchmark_name(record("native", "AVX2")), "relu[64,fp32]/native/threads:2");
  EXPECT_EQ(benchmark_name(record("relu", "AVX2", true)), "relu[64,fp32]/relu/threads:2/cold");
}

TEST(BenchmarkName, InstructionSetsAreNamedWhereOneNameHasSeveral) {
  const std::vector<Record> records = {record("native", "AVX2"), record("relu", "AVX2"),
                                       record("native", "AVX3")};
  EXPECT_THAT(benchmark_names(records),
              testing::ElementsAre("relu[64,fp32]/native/threads:2/isa:AVX2",
                                   "relu[64,fp32]/relu/threads:2",
                                   "relu[64,fp32]/native/threads:2/isa:AVX3"));
}

}  // namespace opbench
