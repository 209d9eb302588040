// Inputs of different floating dtypes in one case, from the case file to the comparison of dumps.
#include <gmock/gmock.h>

#include "tests/support/program.h"

namespace opbench {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kId = "concat[2x3x4x4,2x5x4x4:fp16,fp32,NCHW,axis=1]";

class MixedDtypes : public testing::Test, protected TempDir {
 protected:
  /// Runs opbench and stores its output and errors in `text_`.
  int run(std::vector<std::string> args) {
    const Outcome outcome = opbench_with(std::move(args));
    text_ = outcome.out + outcome.err;
    return outcome.code;
  }
  int run_briefly(const std::string& id, std::vector<std::string> more) {
    more.insert(more.begin(), {"--case", id, "--time", "0.002", "--repetitions", "2"});
    return run(std::move(more));
  }
  int run_case(std::vector<std::string> more) {
    return run_briefly(std::string(kId), std::move(more));
  }
  int run_native(const std::string& id, std::vector<std::string> more) {
    more.insert(more.end(), {"--variant", "native"});
    return run_briefly(id, std::move(more));
  }
  std::string write_cases(const std::string& inputs) const {
    return write("cases.yaml",
                 "cases:\n  - {op: concat, dtypes: [fp32, fp16], inputs: " + inputs + "}\n");
  }

  std::string text_;
};

}  // namespace

// Both dtypes are stated, so they are not combined with the dtypes of the file.
TEST_F(MixedDtypes, StatedByACaseFileMakeOneCase) {
  const std::string file =
      write_cases("[{shape: [2, 3, 4, 4], dtype: fp32}, {shape: [2, 5, 4, 4], dtype: fp16}]");
  ASSERT_EQ(run({"--cases", file, "--dry-run"}), 0) << text_;
  EXPECT_THAT(text_, HasSubstr(kId));
  EXPECT_THAT(text_, Not(HasSubstr(",fp16,NCHW")));
}

TEST_F(MixedDtypes, OfOneInputAreCrossedWithThoseOfTheOthers) {
  const std::string file = write_cases("[[2, 3, 4, 4], {shape: [2, 5, 4, 4], dtype: fp16}]");
  ASSERT_EQ(run({"--cases", file, "--dry-run"}), 0) << text_;
  EXPECT_THAT(text_, HasSubstr(kId));
  EXPECT_THAT(text_, HasSubstr("concat[2x3x4x4,2x5x4x4,fp16,NCHW,axis=1]"));
}

TEST_F(MixedDtypes, AreVerifiedForwardAndBackward) {
  ASSERT_EQ(run_case({"--variant", "native"}), 0) << text_;
  EXPECT_THAT(text_, HasSubstr("1 passed"));
  // The gradients are random. The gradient of a mean would be constant and would show few errors.
  ASSERT_EQ(run_case({"--variant", "native", "--backward"}), 0) << text_;
  EXPECT_THAT(text_, HasSubstr("1 passed"));
}

TEST_F(MixedDtypes, AreAddedAndMultiplied) {
  for (const std::string op : {"add", "mul"}) {
    const std::string id = op + "[2x300:fp16,2x300,fp32,ND]";
    ASSERT_EQ(run_native(id, {}), 0) << text_;
    EXPECT_THAT(text_, HasSubstr("1 passed"));
    EXPECT_EQ(run_native(id, {"--backward"}), 0) << text_;
  }
}

TEST_F(MixedDtypes, AreRefusedByKernelsOfOneDtype) {
  ASSERT_EQ(run_case({"--variant", "native,concat_d"}), 0) << text_;
  EXPECT_THAT(text_, HasSubstr("inputs of different dtypes must be cast to one before"));
}

TEST_F(MixedDtypes, AreDumpedAndCompared) {
  ASSERT_EQ(run_case({"--variant", "native", "--dump", path("a.h5")}), 0) << text_;
  ASSERT_EQ(run_case({"--variant", "reference", "--dump", path("b.h5")}), 0) << text_;
  EXPECT_EQ(run({"compare", path("a.h5"), path("b.h5"), "--standard", "exact"}), 0) << text_;
}

TEST_F(MixedDtypes, AreAnErrorWhereTheOperatorDoesNotPromote) {
  EXPECT_EQ(run({"--case", "axpy[2x3,2x3:fp16,fp32,ND]"}), 2);
  EXPECT_THAT(text_,
              HasSubstr("axpy: input 'x2' is fp16, but 'x1' is fp32; they must be the same"));
}

}  // namespace opbench
