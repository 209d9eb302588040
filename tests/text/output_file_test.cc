#include "text/output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <ostream>
#include <stdexcept>

#include "tensor/error.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class OutputFileTest : public testing::Test, protected TempDir {};

template <class Work>
std::string failure(const Work& work) {
  try {
    work();
    return "done";
  } catch (const RunError& error) {
    return error.what();
  }
}

class OwnResult : public testing::Test, protected TempDir {
 protected:
  bool is_own(std::string_view text) const { return is_own_result(write("file", text)); }
};

}  // namespace

TEST_F(OutputFileTest, WhatStoodThereStaysUntilTheNewIsComplete) {
  const std::string path = write("x.json", "old");
  OutputFile file(path);
  EXPECT_EQ(read("x.json"), "old");
  file.write([&](std::ostream& out) {
    out << "new";
    EXPECT_EQ(read("x.json"), "old");
  });
  EXPECT_EQ(read("x.json"), "new");
  EXPECT_THAT(files(), ElementsAre("x.json"));
}

TEST_F(OutputFileTest, NothingIsLeftWhereNothingWasWritten) {
  { const OutputFile file(path("x.json")); }
  EXPECT_THROW(OutputFile(path("y.json")).write([](std::ostream& out) {
    out << "half";
    throw std::runtime_error("no more");
  }),
               std::runtime_error);
  EXPECT_THAT(files(), testing::IsEmpty());
}

TEST_F(OutputFileTest, AStreamThatFailedIsAFailure) {
  EXPECT_THAT(
      failure([&] {
        OutputFile(path("x")).write([](std::ostream& out) { out.setstate(std::ios::failbit); });
      }),
      StartsWith("cannot write "));
  EXPECT_THAT(files(), testing::IsEmpty());
}

TEST_F(OutputFileTest, AFullDiskIsSaidWithTheFilesOwnName) {
  write("x", "old");
  const FileSizeLimit limit(100'000);
  EXPECT_EQ(failure([&] {
              OutputFile(path("x")).write(
                  [](std::ostream& out) { out << std::string(200'000, 'a') << "the end"; });
            }),
            "cannot write " + path("x") + ": File too large");
  EXPECT_EQ(read("x"), "old");
  EXPECT_THAT(files(), ElementsAre("x"));
}

TEST_F(OutputFileTest, ALongTextArrivesAsItIs) {
  std::string text;
  for (int i = 0; i < 30'000; ++i) text += std::to_string(i) + '\n';
  OutputFile(path("x")).write([&](std::ostream& out) {
    out << text;
    for (const char letter : text) out.put(letter);
  });
  EXPECT_EQ(read("x"), text + text);
}

TEST_F(OutputFileTest, DirectoriesAreMadeWithThoseAboveThem) {
  make_directory(path("a/b/c"));
  make_directory(path("a/b/c"));
  EXPECT_THAT(files(), ElementsAre("a"));
  write("file", "");
  EXPECT_EQ(failure([&] { make_directory(path("file/b")); }),
            "cannot make directory '" + path("file/b") + "': Not a directory");
}

TEST_F(OwnResult, TheSamplesOfEveryFormAreKnown) {
  for (const char* name : {"compare.csv", "compare.json", "gbench.json", "junit.xml", "results.csv",
                           "results.json", "results.md", "trace.json"}) {
    EXPECT_TRUE(is_own_result(source_file("results/samples/" + std::string(name)))) << name;
  }
}

TEST_F(OwnResult, TheMarkdownOfACheckIsKnownForEveryProgram) {
  EXPECT_TRUE(is_own(
      "### :x: mybench: REGRESSION\n\n1 SLOWER. mybench against b. A change counts from 5%"));
  EXPECT_FALSE(is_own("### :x: mybench: my own notes\n"));
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
  // A table of the profiler, whose columns opbench's table repeats.
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
