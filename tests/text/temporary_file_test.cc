#include "text/temporary_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <string>

#include "tensor/error.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

class StaleFiles : public testing::Test, protected TempDir {};

namespace fs = std::filesystem;
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

TEST_F(TemporaryFileTest, TakesThePlaceOfItsTarget) {
  write("x.h5", "old");
  TemporaryFile file(path("x.h5"));
  file.write("new", 3);
  EXPECT_EQ(read("x.h5"), "old");
  file.commit();
  EXPECT_EQ(read("x.h5"), "new");
  EXPECT_THAT(files(), ElementsAre("x.h5"));
}

// After a SIGKILL no process could remove it.
TEST_F(TemporaryFileTest, HasNoNameThatCouldBeLeft) {
  const int probe = open(directory().c_str(), O_TMPFILE | O_RDWR, 0600);
  if (probe < 0) GTEST_SKIP() << "the file system has no files without names";
  close(probe);
  TemporaryFile file(path("x"));
  file.write("abc", 3);
  EXPECT_THAT(files(), IsEmpty());
  file.commit();
  EXPECT_THAT(files(), ElementsAre("x"));
}

TEST_F(TemporaryFileTest, IsRemovedWhenItIsNotCommitted) {
  { const TemporaryFile file(path("x.h5")); }
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(TemporaryFileTest, TwoOfOneTargetDoNotMeet) {
  TemporaryFile first(path("x")), second(path("x"));
  second.write("second", 6);
  first.write("first", 5);
  second.commit();
  first.commit();
  EXPECT_EQ(read("x"), "first");
  EXPECT_THAT(files(), ElementsAre("x"));
}

TEST_F(TemporaryFileTest, ALinkStaysALink) {
  fs::create_symlink(write("target", "old"), path("link"));
  TemporaryFile file(path("link"));
  file.write("new", 3);
  file.commit();
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read("target"), "new");
}

TEST_F(TemporaryFileTest, ALinkToWhatIsStillToComeIsFollowed) {
  fs::create_directory(path("d"));
  fs::create_symlink("d/second", path("link"));
  fs::create_symlink("target", path("d/second"));
  TemporaryFile file(path("link"));
  file.commit();
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(path("d/target"))));
}

TEST_F(TemporaryFileTest, WhatIsReplacedKeepsItsMode) {
  for (const fs::perms mode : {fs::perms(0600), fs::perms(0664), fs::perms(0755)}) {
    fs::permissions(write("x", "old"), mode);
    TemporaryFile file(path("x"));
    file.commit();
    EXPECT_EQ(fs::status(path("x")).permissions(), mode);
  }
}

TEST_F(TemporaryFileTest, AReadOnlyFileIsNotReplaced) {
  fs::permissions(write("x", "old"), fs::perms(0444));
  EXPECT_EQ(refusal(path("x")), "cannot write " + path("x") + ": it is read-only");
}

TEST_F(TemporaryFileTest, HoldsWhatIsWritten) {
  TemporaryFile file(path("x"));
  file.write("abc", 3);
  file.write("def", 3);
  file.write_at(1, "XY", 2);
  char bytes[4];
  ASSERT_TRUE(file.read_at(4, bytes, 4));
  EXPECT_EQ(std::string(bytes, 4), std::string("ef\0\0", 4));
  file.resize(5);
  file.commit();
  EXPECT_EQ(read("x"), "aXYde");
}

TEST_F(TemporaryFileTest, TheFirstFailedWriteIsRemembered) {
  TemporaryFile file(path("x"));
  {
    const FileSizeLimit limit(2);
    file.write("abc", 3);
  }
  EXPECT_TRUE(file.has_failed());
  file.write("abc", 3);
  const auto failure = [](const auto& work) -> std::string {
    try {
      work();
    } catch (const RunError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(failure([&] { file.check("closing"); }),
            "cannot write " + path("x") + ": closing: File too large");
  EXPECT_EQ(failure([&] { file.commit(); }), "cannot write " + path("x") + ": File too large");
}

TEST_F(TemporaryFileTest, WhatCannotBeReplacedIsRefused) {
  EXPECT_EQ(refusal("/dev/null"), "cannot write /dev/null: not a regular file");
  EXPECT_EQ(refusal(directory()), "cannot write " + directory().string() + ": Is a directory");
  EXPECT_EQ(refusal(path("none/x")),
            "cannot write " + path("none/x") + ": No such file or directory");
  EXPECT_EQ(refusal(path("x/")), "cannot write " + path("x/") + ": the path names no file");
}

}  // namespace opbench
