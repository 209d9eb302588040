// Kernels of the example library as variants of a run, through the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/program.h"
#include "tests/support/source_tree.h"

namespace opbench {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

constexpr const char* kCase = "softplus[3x5,fp32]";

class ForeignKernels : public testing::Test {
 protected:
  void SetUp() override {
    library_ =
        std::filesystem::path(program()).parent_path() / "tests/libopbench_example_plugin.so";
    if (!std::filesystem::exists(library_)) GTEST_SKIP() << "the example library is not built";
  }
  Outcome run(std::vector<std::string> args) const {
    args.insert(args.end(), {"--case", kCase, "--kernels", library_.string()});
    return run_program(args);
  }

  std::filesystem::path library_;
};

}  // namespace

TEST_F(ForeignKernels, AreVariantsOfARun) {
  const Outcome ran = run({"run", "--time", "0.002", "--threads", "1", "--quiet", "--json", "-"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto records = nlohmann::json::parse(ran.out)["records"];
  bool is_found = false;
  for (const auto& record : records) {
    if (record["variant"] != "mine_cpp") continue;
    is_found = true;
    EXPECT_EQ(record["status"], "passed");
    EXPECT_GT(record["median_us"].get<double>(), 0);
    EXPECT_THAT(record["reproduce"].get<std::string>(),
                MatchesRegex(".*--kernels '.*libopbench_example_plugin.so#[0-9a-f]{16}'.*"));
  }
  EXPECT_TRUE(is_found) << records;
}

TEST_F(ForeignKernels, TakeTheirDtypesOnly) {
  const Outcome ran = run({"--time", "0", "--variant", "mine_cpp,mine_fp64"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("skipped: mine_fp64: it takes fp64 only, found fp32"));
}

TEST_F(ForeignKernels, HaveInvariances) {
  const Outcome ran = run({"invariance", "--variant", "mine_cpp"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("mine_cpp"));
}

TEST(ForeignSources, WrongOnesAreRefused) {
  EXPECT_THAT(run_program({"--case", kCase, "--kernels", "x.cu"}).err,
              HasSubstr("--kernels takes a shared library (.so) or a Python file (.py)"));
  const Outcome device = run_program({"--case", kCase, "--device", "gpu"});
  EXPECT_EQ(device.code, 2);
  EXPECT_THAT(device.err, HasSubstr("--device takes torch:cpu, torch:cuda:N or torch:npu:N"));
}

}  // namespace opbench
