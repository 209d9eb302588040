#include "text/stale_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <string>

#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

class StaleFiles : public testing::Test, protected TempDir {};

}  // namespace

TEST_F(StaleFiles, OnlyWhatNobodyHasLockedGoes) {
  write(".opbench-1-1.part", "of process 1, which lives, but is another one now");
  write(".opbench-1-2.txt", "of somebody else");
  write("opbench.part", "of somebody else");
  const int held = open(write(".opbench-1-3.part", "held").c_str(), O_RDWR);
  ASSERT_EQ(stale_files::lock(held), 0);
  stale_files::remove_beside(path("x.json"));
  EXPECT_THAT(files(), ElementsAre(".opbench-1-2.txt", ".opbench-1-3.part", "opbench.part"));
  close(held);
}

TEST_F(StaleFiles, ALockIsForOne) {
  const std::string file = write("x", "");
  const int first = open(file.c_str(), O_RDWR), second = open(file.c_str(), O_RDWR);
  EXPECT_EQ(stale_files::lock(first), 0);
  EXPECT_EQ(stale_files::lock(second), EAGAIN);
  close(first);
  EXPECT_EQ(stale_files::lock(second), 0);
  close(second);
}

TEST_F(StaleFiles, ANameIsThisProcesss) {
  EXPECT_EQ(stale_files::new_name(7), ".opbench-" + std::to_string(getpid()) + "-7.part");
}

}  // namespace opbench
