#include "harness/report/prof_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "text/output_file.h"

namespace opbench::report {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

Record record_of(const char* variant, const char* format = "NC1HWC0") {
  Record record;
  record.op = "softplus";
  record.variant = variant;
  record.dtype = "fp16";
  record.shape = "128x64x128x128";
  record.format = format;
  record.case_id = std::string("softplus[128x64x128x128,fp16,") + format + "]";
  record.times.emplace();
  record.times->samples = {
      {.start_us = 10, .duration_us = 400, .ns_per_call = 2000, .iterations = 200}};
  return record;
}

}  // namespace

TEST(ProfFiles, AreNamedAsByTheGuidesScript) {
  const std::vector<Record> records = {record_of("native"), record_of("softplus_v2"),
                                       record_of("torch:npu:0:high_precision"),
                                       record_of("native", "NCHW")};
  const std::vector<ProfFile> files = prof_files(records);
  ASSERT_THAT(files, SizeIs(3));
  EXPECT_EQ(files[0].name, "softplus_device_cpu_dtype_fp16_shape_128_64_128_128_5HD.prof");
  EXPECT_THAT(files[0].records, SizeIs(2));
  EXPECT_EQ(files[1].name, "softplus_device_npu_dtype_fp16_shape_128_64_128_128_5HD.prof");
  EXPECT_EQ(files[2].name, "softplus_device_cpu_dtype_fp16_shape_128_64_128_128.prof");
}

TEST(ProfFiles, OtherCasesOfTheNameHaveOthers) {
  std::vector<Record> records = {record_of("native"), record_of("native"), record_of("native")};
  records[1].threads = 2;
  records[2].attributes = "beta=2";
  const std::vector<ProfFile> files = prof_files(records);
  ASSERT_THAT(files, SizeIs(2));
  EXPECT_THAT(files[1].name, testing::EndsWith("_5HD_2.prof"));
  records[2].case_id = "softplus[128x64x128x128,fp16,NC1HWC0,beta=2]";
  EXPECT_THAT(prof_files(records)[2].name, testing::EndsWith("_5HD_beta_2.prof"));
}

TEST(ProfFiles, AnEventHasTheTimeOfACall) {
  const std::vector<Record> records = {record_of("native"), record_of("softplus_v2")};
  std::ostringstream out;
  write_prof(out, prof_files(records).front());
  EXPECT_THAT(out.str(), StartsWith(R"([{"name":"softplus/native","ph":"X","ts":10.0,"dur":2.0,)"
                                    R"("tid":1,"pid":"CPU functions",)"));
  EXPECT_THAT(out.str(), HasSubstr(R"({"name":"softplus/softplus_v2")"));
}

}  // namespace opbench::report
