// opbench judge and opmap through the built program.
#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/support/program.h"
#include "tests/support/source_tree.h"

namespace opbench {
namespace {

using testing::HasSubstr;
using testing::Not;

class JudgeCli : public testing::Test, protected TempDir {
 protected:
  /// Writes a dump of one variant of a case.
  std::string dump(const std::string& id, const std::string& variant) {
    const std::string file = path(variant + ".h5");
    const Outcome run = run_program({"--case", id, "--variant", variant, "--dump", file, "--time",
                                     "0.001", "--repetitions", "1", "-q"});
    EXPECT_NE(run.code, 2) << run.err;
    return file;
  }
};

constexpr const char* kOverflows =
    "softplus_grad[64,64,fp32,ND,data.grad_output=uniform(-1,1),data.self=arange(80,0.25)]";

}  // namespace

// SoftplusGrad (V1) is e^x/(1 + e^x). It is NaN for x > 88.72, because e^x overflows fp32.
TEST_F(JudgeCli, NamesTheGuiltyTheValuesAndTheVariant) {
  const Outcome judged = run_program({"judge", dump(kOverflows, "softplus_grad")});
  EXPECT_EQ(judged.code, 1);
  EXPECT_THAT(judged.out, HasSubstr("GUILTY: 1 of 1 operators, first /SoftplusBackward/1\n"));
  EXPECT_THAT(judged.out, HasSubstr("of 64 elements are wrong: only self > 88."));
  EXPECT_THAT(judged.out, HasSubstr("equals softplus_grad bit for bit\n"));
  EXPECT_THAT(judged.out, HasSubstr("100 % of the recorded elements judged\n"));
}

TEST_F(JudgeCli, WhatIsRightIsOk) {
  const Outcome judged = run_program({"judge", dump(kOverflows, "softplus_v2_grad"), "-v"});
  EXPECT_EQ(judged.code, 0) << judged.out;
  EXPECT_THAT(judged.out, HasSubstr("OK: none of 1 operators is wrong for its inputs\n\n"));
  EXPECT_THAT(judged.out, Not(HasSubstr("\n\n\n")));
}

TEST_F(JudgeCli, JsonGoesToAFileOrToStandardOutput) {
  const std::string file = dump(kOverflows, "softplus_grad"), json = path("judge.json");
  EXPECT_EQ(run_program({"judge", file, "--json", json}).code, 1);
  const auto report = nlohmann::json::parse(read("judge.json"));
  EXPECT_EQ(report["guilty"], 1);
  EXPECT_EQ(report["records"][0]["path"], "/SoftplusBackward/1");
  EXPECT_GE(report["records"][0]["outputs"][0]["wrong_elements"], 20);
  const Outcome to_output = run_program({"judge", file, "--json", "-"});
  EXPECT_EQ(nlohmann::json::parse(to_output.out)["records"], report["records"]);
  EXPECT_THAT(to_output.err, HasSubstr("GUILTY"));
}

// The dumps of the repository: the NPU's softplus has a wrong threshold of x = 2, and mul inherits
// the error.
TEST_F(JudgeCli, TwoDumpsSettleWhoIsWrong) {
  const std::string npu = source_file("examples/dumps/npu.h5"),
                    gpu = source_file("examples/dumps/gpu.h5");
  const Outcome judged = run_program({"judge", npu, gpu, "--json", path("j.json")});
  EXPECT_EQ(judged.code, 1);
  EXPECT_THAT(judged.out, HasSubstr("4 calls are in both. Wrong for their inputs: 1 in " + npu +
                                    " alone, 0 in " + gpu + " alone, 0 in both.\n"));
  EXPECT_THAT(judged.out, HasSubstr("/softplus/2 GUILTY"));
  const auto report = nlohmann::json::parse(read("j.json"));
  EXPECT_EQ(report["first"]["guilty"], 1);
  EXPECT_EQ(report["second"]["guilty"], 0);
  ASSERT_EQ(report["pairs"].size(), 4u);
  EXPECT_EQ(report["pairs"][1]["first_verdict"], "GUILTY");
  EXPECT_EQ(report["pairs"][1]["second_verdict"], "OK");
  EXPECT_EQ(run_program({"judge", npu, gpu, npu}).code, 2);
}

// The sentence equals that of opbench compare, which applies the same rules.
TEST_F(JudgeCli, SaysWhatTheGuiltyLooksLike) {
  const std::string npu = source_file("examples/dumps/npu.h5");
  const Outcome judged =
      run_program({"judge", npu, "--json", path("j.json"), "--csv", path("j.csv")});
  EXPECT_THAT(
      judged.out,
      HasSubstr("           Looks like: wrong only where the input is from 2.04472 to 5.56522: a\n"
                "           threshold or a branch of the function is elsewhere than expected\n"));
  const auto report = nlohmann::json::parse(read("j.json"));
  const auto& guilty = report["records"][1]["outputs"][0];
  EXPECT_EQ(guilty["causes"][0]["rule"], "input_range");
  EXPECT_THAT(guilty["causes"][0]["text"], HasSubstr("a threshold or a branch"));
  EXPECT_FALSE(report["records"][0]["outputs"][0].contains("causes")) << "nothing is wrong there";
  const std::string csv = read("j.csv");
  EXPECT_THAT(csv, HasSubstr("file,op,seq,verdict,"));
  EXPECT_THAT(csv, HasSubstr(",softplus,2,GUILTY,fp32,"));
  EXPECT_THAT(csv, HasSubstr(",input_range,,\r\n"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 5) << "the names and 4 outputs";
  EXPECT_EQ(run_program({"judge", npu, "--csv", npu}).code, 2) << "would replace the dump";
}

TEST_F(JudgeCli, OnlySomeAndNothingAtAll) {
  const std::string file = dump(kOverflows, "softplus_grad");
  const Outcome nothing = run_program({"judge", file, "--only", "conv"});
  EXPECT_EQ(nothing.code, 4);
  EXPECT_THAT(nothing.err, HasSubstr("matches; there are SoftplusBackward\n"));
  EXPECT_EQ(run_program({"judge", file, "--only", "Softplus"}).code, 1);
}

TEST_F(JudgeCli, BadInput) {
  EXPECT_EQ(run_program({"judge", path("none.h5")}).code, 2);
  EXPECT_EQ(run_program({"judge", write("text.h5", "no dump")}).code, 2);
  const std::string file = dump(kOverflows, "softplus_grad");
  EXPECT_THAT(run_program({"judge", file, "--implementations", "most"}).err,
              HasSubstr("--implementations is 'most'; allowed: none, some, all"));
  EXPECT_THAT(run_program({"judge", file, "--memory", "0"}).err, HasSubstr("--memory is 0"));
  EXPECT_EQ(run_program({"judge", file, "--json", file}).code, 2) << "would replace the dump";
  EXPECT_THAT(run_program({"judge", file, "--map", write("m.yaml", "operators: [{names: x}]")}).err,
              HasSubstr("m.yaml:1: 'op' is missing"));
}

// The dump states its operator, so the wrong row of the table has no effect.
TEST_F(JudgeCli, AMapComesFirst) {
  const Outcome judged = run_program(
      {"judge", dump("relu[8,fp32,ND]", "native"), "--map",
       write("m.yaml", "operators: [{names: relu, op: softplus, inputs: self, outputs: result}]")});
  EXPECT_EQ(judged.code, 0) << "the dump itself says which call it was";
}

TEST_F(JudgeCli, ARowOfTheMapThatDoesNotFitIsNamed) {
  const Outcome judged = run_program(
      {"judge", source_file("examples/dumps/npu.h5"), "--map",
       write("m.yaml", "operators: [{names: relu, op: relu, inputs: other, outputs: result}]")});
  EXPECT_THAT(judged.out,
              HasSubstr("\nrelu 1x: a built-in row is used; the row of --map does not"));
}

TEST_F(JudgeCli, OpmapPrintsRowsInThreeForms) {
  const Outcome text = run_program({"opmap", "aten::softplus"});
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.out, HasSubstr("softplus(self|x|X) -> result|out|y|Y\n    beta: beta\n"));
  EXPECT_THAT(text.out, Not(HasSubstr("conv2d")));
  const auto json = nlohmann::json::parse(run_program({"opmap", "--as", "json"}).out);
  EXPECT_GT(json["operators"].size(), 40u);
  EXPECT_EQ(json["ops"]["CudnnConvolutionBackward"][0], "NpuConvolutionBackward");
  // opmap reads its own output.
  const std::string file = write("m.yaml", run_program({"opmap", "--as", "yaml"}).out);
  const Outcome again = run_program({"opmap", "--map", file, "softplus"});
  EXPECT_EQ(again.code, 0) << again.err;
  const Outcome unknown = run_program({"opmap", "no_such_operator"});
  EXPECT_EQ(unknown.code, 4);
  EXPECT_EQ(unknown.err, "opbench: no row for 'no_such_operator'\n");
  write("ops.txt", "Name  Self CPU\naten::add_  1\naten::lu_solve  1\naten::relu  1\n");
  write("npu.md", "| 1 | torch.add_ | 是 |\n| 2 | torch.relu | 否 |\n");
  EXPECT_THAT(
      run_program({"opmap", "--network", path("ops.txt"), "--npu-ops", path("npu.md")}).out,
      testing::AllOf(
          HasSubstr("aten::lu_solve                           opbench: -; not of the NPU\n"),
          HasSubstr("aten::relu                               opbench: relu; not of the"),
          HasSubstr("\n3 operators: 1 not in opbench, 2 not in ")));
  EXPECT_EQ(run_program({"opmap", "adam"}).err,
            "opbench: no row for 'adam'; dumps hold its element-wise steps\n");
  EXPECT_EQ(run_program({"opmap", "--as", "xml"}).code, 2);
}

}  // namespace opbench
