// opbench convert through both command lines: its own and msaccucmp's.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "dump/arrays/array_file.h"
#include "dump/dump_writer.h"
#include "tests/support/program.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The file that msaccucmp wrote. msaccucmp writes every empty tensor as float64, but the only empty
// tensor here is float32.
std::string expected_text(const fs::path& file) {
  std::string text = text_of(file);
  const std::size_t type = text.find("'<f8', 'fortran_order': False, 'shape': (0, 3)");
  if (type != text.npos) text[type + 3] = '4';
  return text;
}

class ConvertCommand : public testing::Test, protected TempDir {
 protected:
  Outcome convert(std::vector<std::string> args) const {
    args.insert(args.begin(), "convert");
    return opbench_with(args);
  }
  std::string npu() const { return source_file("examples/dumps/npu.h5"); }
};

TEST_F(ConvertCommand, TakesTheCommandLineOfMsaccucmp) {
  int cases = 0;
  for (const auto& folder : fs::directory_iterator(test_data("msaccucmp_convert"))) {
    SCOPED_TRACE(folder.path().filename());
    const nlohmann::json meta = nlohmann::json::parse(std::ifstream(folder.path() / "meta.json"));
    std::vector<std::string> words = meta["cmd"];
    if (words[0] != "convert") continue;
    const bool is_directory = folder.path().filename() == "directory";
    const fs::path in = folder.path() / "in", out = path(folder.path().filename().string());
    for (std::string& word : words) {
      if (word == "IN") word = is_directory ? in : fs::directory_iterator(in)->path();
      if (word == "OUT") word = out;
    }
    const Outcome outcome = opbench_with(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, IsEmpty());
    for (const auto& expected : fs::directory_iterator(folder.path() / "expected")) {
      const fs::path name = expected.path().filename();
      EXPECT_EQ(text_of(out / name), expected_text(expected.path())) << name;
    }
    ++cases;
  }
  EXPECT_EQ(cases, 36);
}

TEST_F(ConvertCommand, WritesADumpAsFilesAndBack) {
  const Outcome there = convert({npu(), "-o", path("out")});
  EXPECT_EQ(there.code, 0) << there.err;
  EXPECT_THAT(there.out, AllOf(HasSubstr(" arrays from 1 file in "), HasSubstr("out\n")));
  EXPECT_TRUE(fs::exists(path("out/softplus/2/output/result.npy")));
  const Outcome back = convert({path("out"), "-o", path("x.h5"), "--device", "npu", "-q"});
  EXPECT_EQ(back.code, 0) << back.err;
  EXPECT_EQ(back.out, "");
  const Outcome compared = opbench_with({"compare", path("x.h5"), npu()});
  EXPECT_EQ(compared.code, 0) << compared.out << compared.err;
  const Outcome some = convert({npu(), "-o", path("some.npz"), "--only", "^softplus/2/output"});
  EXPECT_EQ(some.code, 0) << some.err;
  EXPECT_EQ(ArrayFile(path("some.npz")).entries().size(), 1u);
}

TEST_F(ConvertCommand, FailuresAreListedAtTheEnd) {
  write("in/cut.npy", "\x93NUMPY");
  write("in/good.txt", "1\n");
  const Outcome outcome = convert({path("in"), "-o", path("out")});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err.find("opbench: "), 0u) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("cut.npy: not a .npy file"));
  EXPECT_THAT(outcome.out, HasSubstr("1 array from 2 files"));
  write("dumps/Add.a.1.2", "xx");
  const Outcome dumps = convert({"-d", path("dumps"), "-out", path("failed")});
  EXPECT_EQ(dumps.code, 2);
  EXPECT_EQ(read("failed/convert_failed_file_list.txt"), path("dumps/Add.a.1.2") + "\n");
}

TEST_F(ConvertCommand, CodeInAPickleIsRefused) {
  const std::string file = write("evil.pt", std::string("\x80\x02"
                                                        "cposix\nsystem\nX\x02\x00\x00\x00ls\x85R.",
                                                        25));
  const Outcome outcome = convert({file, "-o", path("out")});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("'posix.system' is not one of the names that tensors need"));
  EXPECT_TRUE(fs::is_empty(path("out")));
}

TEST_F(ConvertCommand, AFileWithoutAnArrayIsNotDone) {
  DumpWriter(path("empty.h5")).finish();
  const Outcome none = convert({path("empty.h5"), "-o", path("out")});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("empty.h5 holds no array; nothing is written"));
  const Outcome other = convert({npu(), "-o", path("out"), "--only", "^none$"});
  EXPECT_EQ(other.code, 4);
  EXPECT_THAT(other.err, HasSubstr("no array of " + npu() + " has a name that --only '^none$'"));
  fs::create_directory(path("folder"));
  const Outcome folder = convert({path("folder"), "-o", path("out"), "--only", "x"});
  EXPECT_EQ(folder.code, 2);
  EXPECT_THAT(folder.err, HasSubstr("there is no file to convert in "));
}

TEST_F(ConvertCommand, OneArrayGoesIntoTheFileThatIsNamed) {
  const std::string text = write("in.txt", "# float32 1x2\n0.5 -1\n");
  ASSERT_EQ(convert({text, "-o", path("x.npy")}).code, 0);
  ASSERT_EQ(convert({path("x.npy"), "-o", path("x.txt")}).code, 0);
  EXPECT_EQ(read("x.txt"), "# float32 1x2\n5.000000000000000000e-01\n-1.000000000000000000e+00\n");
  const Outcome several = convert({npu(), "-o", path("y.txt")});
  EXPECT_EQ(several.code, 2);
  EXPECT_THAT(several.err, HasSubstr("y.txt is a file of one array, and "));
  EXPECT_THAT(several.err, HasSubstr(" may hold more; name a folder\n"));
}

TEST_F(ConvertCommand, BadUsage) {
  const auto refused = [&](std::vector<std::string> args, const std::string& message) {
    const Outcome outcome = convert(std::move(args));
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr(message));
  };
  refused({"-o", path("x")}, "SOURCE or -d is required");
  refused({npu()}, "--out is required");
  refused({npu(), "-o", path("x"), "--to", "csv"}, "--to: found 'csv'; allowed");
  refused({npu(), "-o", path("x"), "--device", "gpu"}, "--device: found 'gpu'");
  refused({"-d", "x", "-c", "dir"}, "-c is not supported");
  refused({"-d", "x", "-out"}, "-out needs a value");
  refused({"-d", "x", "-o", "0"}, "-s, -i and -o need a format (-f)");
  refused({"-d", "x,y", "-f", "NCHW", "-o", "0"}, "-s, -i and -o are for one file");
  refused({"-d", "x", "-f", "NCHW", "-o", "0", "-i", "1"}, "only one is allowed");
  refused({"-d", "x", "-v", "3"}, "-v: found 3; allowed are 1 and 2");
  refused({"-d", "x", "-t", "raw"}, "-t: found 'raw'; allowed are npy, bin, msnpy");
  refused({"-d", path("none"), "-out", path("out")}, "No such file or directory");
  refused({path("none.npy"), "-o", path("out")}, "No such file or directory");
}

}  // namespace
}  // namespace opbench
