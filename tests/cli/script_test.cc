// `opbench script` through the built program. Its output runs in the Python that has PyTorch.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/plan/case.h"
#include "tensor/fill.h"
#include "tests/support/program.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ScriptCli : public testing::Test, protected TempDir {
 protected:
  Outcome script(std::vector<std::string> args) const {
    args.insert(args.begin(), "script");
    return run_program(args, {.environment = {}, .directory = directory()});
  }
};

constexpr const char* kCase = "softplus[2x16x5x7,fp32,NC1HWC0,beta=2,backward]";

// The last two of the values that a case is timed with.
std::string last_values(const Case& c) {
  const Problem problem = problem_of(c);
  const TensorDesc& desc = problem.inputs[0];
  float values[2];
  generate(input_data(c, problem)[0], seed_of(c), desc.dtype, desc.elements(),
           {desc.elements() - 2, 2}, values);
  return fmt::format("{:.4f} {:.4f}", values[0], values[1]);
}

}  // namespace

TEST_F(ScriptCli, TheScriptComputesTheCase) {
  ASSERT_EQ(script({kCase, "-o", "one.py"}).code, 0);
  EXPECT_THAT(read("one.py"), HasSubstr("F.softplus(x[0], a[\"beta\"], a[\"threshold\"])"));
  const Outcome ran = shell(
      "/usr/bin/python3 -c \"import one, sys; print(*('%.4f' % v for v in "
      "one.values(one.INPUTS[0]).flatten()[-2:])); sys.exit(one.main())\" "
      "--repeat 2 --check --profile one.prof",
      {.environment = {{"OMP_NUM_THREADS", "1"}}, .directory = directory()});
  if (ran.err.find("No module named 'torch'") != ran.err.npos) GTEST_SKIP() << "no PyTorch";
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, StartsWith(last_values(parse_case_id(kCase)) + "\nforward: median "));
  EXPECT_THAT(ran.out, HasSubstr("\nforward and backward: median "));
  EXPECT_THAT(ran.out, HasSubstr("result 1: 0 of 1120 elements differ by more than 0.0001"));
  EXPECT_THAT(read("one.prof"), HasSubstr("softplus_backward"));
}

TEST_F(ScriptCli, OneCaseOfAFileIsSelected) {
  const std::string cases = source_file("cases/softplus_prof.yaml");
  const Outcome one = script({"--cases", cases, "--filter", "128x64x128x128,fp16,NCHW"});
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_THAT(one.out, HasSubstr("[128, 64, 128, 128], \"NCHW\""));
  const Outcome several = script({"--cases", cases});
  EXPECT_EQ(several.code, 2);
  EXPECT_THAT(several.err, HasSubstr("a script times one; name one of them, such as 'softplus["));
  EXPECT_EQ(script({"--cases", cases, "--filter", "nothing"}).code, 4);
}

}  // namespace opbench
