// opbench minimise through the built program. Python and a compiler run its output.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "tests/support/program.h"
#include "tests/support/source_tree.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kNpuDump = "examples/dumps/npu.h5";

class MinimiseCli : public testing::Test, protected TempDir {
 protected:
  Outcome minimise(const std::vector<std::string>& args) const {
    std::vector<std::string> words = {"minimise"};
    words.insert(words.end(), args.begin(), args.end());
    return run_program(words, {.environment = {}, .directory = directory()});
  }
  std::vector<std::string> files_in(const std::string& folder) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path(folder))) {
      names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  Outcome python(const std::string& args) const {
    return shell("/usr/bin/python3 " + path("out/call.py") + " " + args);
  }
};

}  // namespace

// softplus of the dump in the repository has a wrong threshold of x = 2 on the device.
TEST_F(MinimiseCli, WritesAFolderThatIsFoundGuiltyForTheSameReason) {
  const Outcome cut = minimise({source_file(kNpuDump), "/softplus/2/", "-o", "out"});
  ASSERT_EQ(cut.code, 0) << cut.err;
  EXPECT_THAT(cut.out, HasSubstr(" -> 2 elements, "));
  EXPECT_THAT(cut.out, HasSubstr("  GUILTY: "));
  EXPECT_THAT(files(), ElementsAre("out"));
  EXPECT_THAT(files_in("out"), ElementsAre("README.md", "call.h5", "call.py", "call_test.cc"));
  EXPECT_LT(std::filesystem::file_size(path("out/call.h5")), 16384u);
  const Outcome judged = run_program({"judge", path("out/call.h5")});
  EXPECT_EQ(judged.code, 1) << judged.out;
  EXPECT_THAT(judged.out, HasSubstr("GUILTY: 1 of 1 operators, first /softplus/2\n"));
  const std::string readme = read("out/README.md");
  EXPECT_THAT(readme, HasSubstr("| sequence number | 2 |"));
  EXPECT_THAT(readme, HasSubstr("| device | NPU |"));
  EXPECT_THAT(readme, HasSubstr("opbench judge call.h5"));
}

TEST_F(MinimiseCli, TheScriptSaysPassOrFailWithAndWithoutTorch) {
  ASSERT_EQ(minimise({source_file(kNpuDump), "/softplus/2", "-o", "out"}).code, 0);
  const Outcome recorded = python("--recorded");
  EXPECT_EQ(recorded.code, 1) << recorded.err;
  EXPECT_THAT(recorded.out, HasSubstr("FAIL: 1 of 1 elements are wrong\n"));
  // A module that cannot be imported stands for a missing torch.
  write("torch.py", "raise ImportError('none')\n");
  const Outcome without =
      shell("PYTHONPATH=" + path("") + " /usr/bin/python3 " + path("out/call.py"));
  EXPECT_EQ(without.code, 1) << without.err;
  EXPECT_THAT(without.out, HasSubstr("torch is not installed, nothing was computed"));
  EXPECT_THAT(read("out/call.py"),
              HasSubstr("return F.softplus(x[0], a[\"beta\"], a[\"threshold\"])"));
  const bool has_torch = shell("/usr/bin/python3 -c 'import torch'").code == 0;
  const Outcome computed = python("");
  EXPECT_EQ(computed.code, has_torch ? 0 : 1) << computed.err;
  EXPECT_THAT(computed.out, HasSubstr(has_torch ? "PASS: 0 of 1" : "torch is not installed"));
}

TEST_F(MinimiseCli, TheTestCompilesFailsAndPassesWithARightKernel) {
  ASSERT_EQ(minimise({source_file(kNpuDump), "/softplus/2", "-o", "out"}).code, 0);
  // The suite may run in shards. The compiled test must not be sharded.
  const std::string build = "cd " + path("out") +
                            " && g++ -std=c++17 -Wall -Wextra -Werror call_test.cc -lgtest "
                            "-lgtest_main -pthread -o call_test && "
                            "env -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX ./call_test";
  const Outcome recorded = shell(build);
  EXPECT_EQ(recorded.code, 1) << recorded.err;
  EXPECT_THAT(recorded.out, HasSubstr("[  FAILED  ] RecordedCall.EveryElementIsWithinTheBound"));
  std::string text = read("out/call_test.cc");
  const std::string wrong = "output() { return kRecorded; }";
  ASSERT_NE(text.find(wrong), text.npos);
  write("out/call_test.cc",
        text.replace(text.find(wrong), wrong.size(), "output() { return kExpected; }"));
  const Outcome right = shell(build);
  EXPECT_EQ(right.code, 0) << right.err << right.out;
  EXPECT_THAT(right.out, HasSubstr("[  PASSED  ] 1 test."));
}

TEST_F(MinimiseCli, RefusesWhatIsNotGuilty) {
  const Outcome right = minimise({source_file(kNpuDump), "/relu/1", "-o", "out"});
  EXPECT_EQ(right.code, 4);
  EXPECT_THAT(right.err, HasSubstr("/relu/1 of " + source_file(kNpuDump) +
                                   " is OK, not GUILTY: it is correct for its recorded inputs"));
  EXPECT_THAT(files(), ElementsAre()) << "nothing half-written";
}

TEST_F(MinimiseCli, TakesTheFirstThatIsGuilty) {
  const Outcome found = minimise({source_file(kNpuDump), "-o", "out"});
  EXPECT_EQ(found.code, 0) << found.err;
  EXPECT_THAT(found.out, HasSubstr("/softplus/2 of "));
  const Outcome none = minimise({source_file("examples/dumps/gpu.h5"), "-o", "none"});
  EXPECT_EQ(none.code, 4);
  EXPECT_THAT(none.err, HasSubstr("none of the "));
  EXPECT_THAT(files(), ElementsAre("out"));
}

TEST_F(MinimiseCli, BadInput) {
  const Outcome none = minimise({source_file(kNpuDump), "/softplus/3"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("has no '/softplus/3'"));
  EXPECT_THAT(minimise({source_file(kNpuDump), "/softplsu/2"}).err,
              HasSubstr("did you mean '/softplus'?"));
  EXPECT_EQ(minimise({path("none.h5"), "/a/1"}).code, 2);
  EXPECT_THAT(minimise({source_file(kNpuDump), "/softplus/2", "--memory", "0"}).err,
              HasSubstr("--memory is 0"));
  write("full/file", "");
  const Outcome full = minimise({source_file(kNpuDump), "/softplus/2", "-o", "full"});
  EXPECT_EQ(full.code, 2);
  EXPECT_THAT(full.err, HasSubstr("is there already and is not empty"));
  EXPECT_THAT(files(), ElementsAre("full"));
  std::filesystem::create_directory(path("empty"));
  EXPECT_EQ(minimise({source_file(kNpuDump), "/softplus/2", "-o", "empty/"}).code, 0);
  EXPECT_THAT(files_in("empty"), testing::Contains("call.py"));
}

// A record that needs more memory than allowed is not judged, so it is not minimised.
TEST_F(MinimiseCli, MemoryIsBounded) {
  const std::string file = path("big.h5");
  ASSERT_NE(run_program({"--case", "softplus[512x1024,fp32,ND]", "--variant", "native", "--dump",
                         file, "--time", "0.001", "--repetitions", "1", "-q"})
                .code,
            2);
  const Outcome big = minimise({file, "/", "--memory", "1"});
  EXPECT_EQ(big.code, 4);
  EXPECT_THAT(big.err, HasSubstr("is UNKNOWN, not GUILTY: its tensors take"));
}

}  // namespace opbench
