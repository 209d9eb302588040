// No command replaces a file of the user without --overwrite. Texts that opbench wrote are
// replaced, so that a command can be repeated.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/program.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::HasSubstr;

const std::string kUnverified = " --variant native --no-verify --time 0.0001 --repetitions 1 -q ";
const std::string kRun = "--case 'relu[8,fp32]'" + kUnverified;
const std::string kNotes = "what the user wrote\n";

/// A command that writes a file of this name.
struct Writing {
  std::string command, flag, file;
};

class Overwrite : public testing::Test, protected TempDir {
 protected:
  Overwrite() {
    fs::copy_file(source_file("examples/dumps/npu.h5"), path("npu.h5"));
    fs::copy_file(source_file("examples/dumps/gpu.h5"), path("gpu.h5"));
    fs::create_directory_symlink(source_file("cases"), path("cases"));
    fs::create_directory_symlink(source_file("tests/data/profiles"), path("profiles"));
    opbench(kRun + "--json r.json");
    opbench(kRun + "--json s.json");
  }

  Outcome opbench(const std::string& arguments) const {
    return shell("'" + program() + "' " + arguments, {.environment = {}, .directory = directory()});
  }

  void expect_refused(const Writing& one) const {
    SCOPED_TRACE(one.command);
    write(one.file, kNotes);
    const Outcome outcome = opbench(one.command);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("opbench: " + one.flag + ": " + one.file +
                                       " exists; choose another name, or pass --overwrite\n"));
    EXPECT_EQ(read(one.file), kNotes);
    EXPECT_THAT(opbench(one.command + " --overwrite").code, AnyOf(0, 1));
    EXPECT_NE(read(one.file), kNotes);
  }
};

const std::string kContext =
    "--cases cases/shufflenet_v2_unit.yaml --filter stride1 --set N=1" + kUnverified;
const std::string kProfile = "ingest profiles/kernel_details/llm_bf16_st_rank0.csv -q ";

const std::vector<Writing> kTexts = {
    {kRun + "--json x", "--json", "x"},
    {kRun + "--csv x", "--csv", "x"},
    {kRun + "--markdown x", "--markdown", "x"},
    {kRun + "--junit x", "--junit", "x"},
    {kRun + "--benchmark-json x", "--benchmark-json", "x"},
    {kRun + "--trace x", "--trace", "x"},
    {kRun + "--out d", "--out", "d/results.csv"},
    {kContext + "--op-summary x", "--op-summary", "x"},
    {kContext + "--op-statistic x", "--op-statistic", "x"},
    {kContext + "--dry-run --dot x", "--dot", "x"},
    {"judge npu.h5 -q --json x", "--json", "x"},
    {"judge npu.h5 -q --csv x", "--csv", "x"},
    {"compare npu.h5 gpu.h5 -q -o d", "-o", "d/compare.json"},
    {"compare npu.h5 gpu.h5 -q -o d", "-o", "d/compare.csv"},
    {"show npu.h5 --json x", "--json", "x"},
    {"overflow npu.h5 --json x", "--json", "x"},
    {"report r.json -o x.csv", "-o", "x.csv"},
    {"report r.json --html x", "--html", "x"},
    {"check --baseline r.json --current s.json --out d", "--out", "d/check.json"},
    {"check --baseline r.json --current s.json --markdown x", "--markdown", "x"},
    {"check --baseline r.json --current s.json --junit x", "--junit", "x"},
    {kProfile + "--json x", "--json", "x"},
    {kProfile + "--csv x", "--csv", "x"},
    {"remedy --cases cases/shufflenet_v2_unit.yaml --json x", "--json", "x"},
    {"invariance --op relu --json x", "--json", "x"},
};

// Data files, and files that users edit by hand.
const std::vector<Writing> kOthers = {
    {kRun + "--dump x", "--dump", "x"},
    {kRun + "--artefact x", "--artefact", "x"},
    {"run --load gpu.h5 --dump npu.h5 -q", "--dump", "npu.h5"},
    {"compare npu.h5 gpu.h5 -q -o x.h5", "-o", "x.h5"},
    {"extract npu.h5 --only relu -o x", "-o", "x"},
    {"convert npu.h5 -o x.npz", "-o", "x.npz"},
    {"convert npu.h5 -o x.h5", "-o", "x.h5"},
    {kProfile + "--cases x", "--cases", "x"},
    {"remedy --cases cases/shufflenet_v2_unit.yaml --out x", "--out", "x"},
    {"script relu[8,fp32] -o x", "-o", "x"},
};

}  // namespace

TEST_F(Overwrite, AFileOfTheUserStays) {
  for (const Writing& one : kTexts) expect_refused(one);
  for (const Writing& one : kOthers) expect_refused(one);
}

TEST_F(Overwrite, TextsOfOpbenchAreReplaced) {
  for (const Writing& one : kTexts) {
    SCOPED_TRACE(one.command);
    fs::remove(path(one.file));
    const Outcome first = opbench(one.command), second = opbench(one.command);
    EXPECT_EQ(first.code, second.code) << second.err;
    EXPECT_THAT(second.code, AnyOf(0, 1));
  }
}

TEST_F(Overwrite, DumpsAreNot) {
  const std::string before = read("npu.h5");
  EXPECT_EQ(opbench("run --load gpu.h5 --dump npu.h5").code, 2);
  EXPECT_EQ(opbench(kRun + "--json npu.h5").code, 2);
  EXPECT_EQ(read("npu.h5"), before);
  ASSERT_EQ(opbench(kRun + "--dump x.h5").code, 0);
  EXPECT_EQ(opbench(kRun + "--dump x.h5").code, 2);
}

TEST_F(Overwrite, ArraysInAFolderAreNot) {
  ASSERT_EQ(opbench("convert npu.h5 -o arrays").code, 0);
  const std::string array = "arrays/softplus/2/output/result.npy";
  write(array, kNotes);
  const Outcome outcome = opbench("convert npu.h5 -o arrays");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err,
              HasSubstr(array + " exists; choose another folder, or pass --overwrite"));
  EXPECT_EQ(read(array), kNotes);
  EXPECT_EQ(opbench("convert npu.h5 -o arrays --overwrite").code, 0);
  EXPECT_NE(read(array), kNotes);
}

TEST_F(Overwrite, AnEmptyFileIsNothing) {
  write("x.h5", "");
  EXPECT_EQ(opbench(kRun + "--dump x.h5").code, 0);
}

}  // namespace opbench
