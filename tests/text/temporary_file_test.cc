#include "text/temporary_file.h"

#include <gmock/gmock.h>

#include <fstream>
#include <string>

#include "tensor/error.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class TemporaryFileTest : public testing::Test, protected TempDir {
 protected:
  std::string refusal(const std::string& target) const {
    try {
      const TemporaryFile file(target);
      return "accepted";
    } catch (const RunError& error) {
      return error.what();
    }
  }
};

}  // namespace

TEST_F(TemporaryFileTest, StandsBesideItsTargetAndTakesItsPlace) {
  write("x.h5", "old");
  TemporaryFile file(path("x.h5"));
  EXPECT_EQ(file.path().parent_path(), directory());
  EXPECT_THAT(file.path().filename().string(), testing::MatchesRegex("\\.opbench-.*\\.part"));
  std::ofstream(file.path()) << "new";
  file.commit();
  EXPECT_EQ(read("x.h5"), "new");
  EXPECT_THAT(files(), ElementsAre("x.h5"));
}

TEST_F(TemporaryFileTest, IsRemovedWhenItIsNotCommitted) {
  { const TemporaryFile file(path("x.h5")); }
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(TemporaryFileTest, TwoOfOneTargetDoNotMeet) {
  TemporaryFile first(path("x")), second(path("x"));
  EXPECT_NE(first.path(), second.path());
  second.commit();
  first.commit();
  EXPECT_THAT(files(), ElementsAre("x"));
}

TEST_F(TemporaryFileTest, ALinkStaysALink) {
  fs::create_symlink(write("target", "old"), path("link"));
  TemporaryFile file(path("link"));
  std::ofstream(file.path()) << "new";
  file.commit();
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read("target"), "new");
}

TEST_F(TemporaryFileTest, WhatCannotBeReplacedIsRefused) {
  EXPECT_EQ(refusal("/dev/null"), "cannot write /dev/null: not a regular file");
  EXPECT_EQ(refusal(directory()), "cannot write " + directory().string() + ": Is a directory");
  EXPECT_EQ(refusal(path("none/x")),
            "cannot write " + path("none/x") + ": No such file or directory");
  EXPECT_EQ(refusal(path("x/")), "cannot write " + path("x/") + ": the path names no file");
}

}  // namespace opbench
