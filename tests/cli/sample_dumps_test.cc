// Tests the dumps with which the README explains `opbench compare`.
#include <gmock/gmock.h>

#include <filesystem>

#include "cli/cli.h"
#include "tests/support/program.h"
#include "tests/support/source_tree.h"

namespace opbench {

using testing::HasSubstr;

// The planted fault is named. Later operators only inherit it.
TEST(SampleDumps, ShowWhereTheFaultIs) {
  const std::string npu = source_file("examples/dumps/npu.h5"),
                    gpu = source_file("examples/dumps/gpu.h5");
  const Outcome outcome = run_program({"compare", npu, gpu});
  EXPECT_EQ(outcome.code, kVerdictFailed) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\nIntroduced at softplus, call 2\n"));
  EXPECT_THAT(outcome.out,
              HasSubstr("\n  by npu.h5: wrong for its own inputs; gpu.h5 is right for its\n"));
  EXPECT_THAT(outcome.out, HasSubstr("3 operators fail: 1 introduces an error, 2 inherit one"));
  std::size_t thresholds = 0;
  for (auto at = outcome.out.find("Looks like"); at != std::string::npos;
       at = outcome.out.find("Looks like", at + 1)) {
    ++thresholds;
  }
  EXPECT_EQ(thresholds, 2u) << "of softplus, at the top and in the list; the others only inherit";
  EXPECT_LT(std::filesystem::file_size(npu) + std::filesystem::file_size(gpu), 100'000u);
}

// The device is under test, so its dump must come first.
TEST(SampleDumps, InTheOtherOrderThereIsANote) {
  const std::string npu = source_file("examples/dumps/npu.h5"),
                    gpu = source_file("examples/dumps/gpu.h5");
  EXPECT_THAT(run_program({"compare", gpu, npu}).err,
              HasSubstr("opbench: note: the first dump is of CPU and is judged by the second, of "
                        "NPU; if the NPU is under test, swap them\n"));
  EXPECT_THAT(run_program({"compare", npu, gpu}).err, testing::Not(HasSubstr("note:")));
}

TEST(SampleDumps, WhatTheyDoNotHoldIsNoSelection) {
  const Outcome outcome =
      run_program({"judge", source_file("examples/dumps/npu.h5"), "--only", "nosuch"});
  EXPECT_EQ(outcome.code, kNothingToJudge);
  EXPECT_THAT(outcome.err, HasSubstr("matches; there are mul, relu, softmax, softplus\n"));
}

}  // namespace opbench
