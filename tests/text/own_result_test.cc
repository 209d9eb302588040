#include "text/own_result.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

class OwnResult : public testing::Test, protected TempDir {
 protected:
  bool is_own(std::string_view text) const { return is_own_result(write("file", text)); }
};

}  // namespace

TEST_F(OwnResult, TheSamplesOfEveryFormAreKnown) {
  for (const char* name : {"compare.csv", "compare.json", "gbench.json", "junit.xml", "results.csv",
                           "results.json", "results.md", "trace.json"}) {
    EXPECT_TRUE(is_own_result(source_file("results/samples/" + std::string(name)))) << name;
  }
}

TEST_F(OwnResult, FilesOfTheUserAreNot) {
  EXPECT_FALSE(is_own_result(source_file("README.md")));
  EXPECT_FALSE(is_own_result(source_file("examples/dumps/npu.h5")));
  EXPECT_FALSE(
      is_own_result(source_file("tests/data/profiles/kernel_details/"
                                "llm_bf16_st_rank0.csv")));
  EXPECT_FALSE(is_own_result(source_file("cases/resnet.yaml")));
  EXPECT_FALSE(is_own("my notes\n"));
  EXPECT_FALSE(is_own("# opbench results of monday\n"));
  EXPECT_FALSE(is_own("{\"threshold\": 20}"));
  EXPECT_FALSE(is_own("import subprocess\nsubprocess.run([\"opbench\", \"list\"])\n"));
  // The profiler's own table, of whose form ours is.
  EXPECT_FALSE(is_own("Device_id,Model Name,Model ID,Task ID\n0,resnet,1,AI_CORE,2\n"));
}

TEST_F(OwnResult, NothingIsLostWhereNothingIs) {
  EXPECT_TRUE(is_own(""));
  EXPECT_TRUE(is_own_result(path("absent")));
  EXPECT_TRUE(is_own_result(directory()));
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_TRUE(is_own_result(path("pipe")));
}

}  // namespace opbench
