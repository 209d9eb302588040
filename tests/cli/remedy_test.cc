// `opbench remedy` through the built program. Its output is run.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/cli.h"
#include "tests/support/program.h"
#include "tests/support/source_tree.h"

namespace opbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

class RemedyCli : public testing::Test, protected TempDir {
 protected:
  Outcome remedy(std::vector<std::string> more) const {
    more.insert(more.begin(), {"remedy", "--quiet"});
    return run_program(std::move(more));
  }
  static std::string unit() { return source_file("cases/shufflenet_v2_unit.yaml"); }

  // Compares the counts of each step between the run and the search.
  void expect_runs_as_found(const std::string& steps, const Json& found) {
    const Outcome run = run_program({"--cases", steps, "--time", "0.01", "--repetitions", "2",
                                     "--quiet", "--json", path("run.json")});
    EXPECT_EQ(run.code, kAllWell) << run.out << run.err;
    const Json records = Json::parse(read("run.json"))["records"];
    ASSERT_EQ(records.size(), found["ladder"].size() + 1);
    for (std::size_t i = 0; i < records.size(); ++i) {
      const Json& cost = i == 0 ? found["before"] : found["ladder"][i - 1]["cost"];
      EXPECT_EQ(records[i]["status"], "passed");
      EXPECT_EQ(records[i]["trans_data"], cost["trans_data"]);
      EXPECT_EQ(records[i]["casts"], cost["casts"]);
      EXPECT_EQ(records[i]["copies"], cost["copies"]);
    }
  }
};

}  // namespace

TEST_F(RemedyCli, WhatItWritesRunsAndIsVerified) {
  const Outcome search = remedy({"--cases", unit(), "--context", "stride1", "--set", "N=1", "--out",
                                 path("steps.yaml"), "--json", path("remedy.json")});
  ASSERT_EQ(search.code, kAllWell) << search.err;
  EXPECT_THAT(search.out, AllOf(HasSubstr("stride1[N=1,fp32]"), HasSubstr("proved: the minimum of"),
                                HasSubstr("lower bound for all rules: 4 TransData"),
                                Not(HasSubstr("stride2"))));
  const Json document = Json::parse(read("remedy.json"));
  EXPECT_EQ(document["schema"], "opbench-remedy");
  const Json found = document["remedies"][0];
  EXPECT_EQ(found["before"]["trans_data"], 21);
  EXPECT_EQ(found["after"]["trans_data"], 6);
  EXPECT_EQ(found["gap"]["trans_data"], 2);
  const Outcome plan = run_program({"--cases", path("steps.yaml"), "--dry-run"});
  EXPECT_EQ(plan.code, kAllWell) << plan.err;
  EXPECT_THAT(plan.out, AllOf(HasSubstr("stride1[N=1,fp32]"), HasSubstr("1.concat_output_nchw")));
  expect_runs_as_found(path("steps.yaml"), found);
}

// The steps state precision, symbols and their own blocks, and extend other steps.
TEST_F(RemedyCli, KeepsWhatTheStepHasBesideRulesAndVariants) {
  write("two.yaml", R"(
symbols: {N: 1}
blocks:
  plain:
    inputs: [x]
    nodes: [{op: relu, in: x, out: y}]
    outputs: [y]
  other:
    inputs: [x]
    nodes: [{op: relu, in: x, out: z}, {name: "2", op: relu, in: z, out: y}]
    outputs: [y]
contexts:
  - name: "0"
    inputs: {x: [N, 16, 4, 4]}
    parameters: {w: [16, 16, 1, 1]}
    nodes: [{op: conv2d, in: [x, w], out: c}, {include: plain, name: last, in: [c], out: [y]}]
    outputs: [y]
    backward: true
    loss: mean
    standard: cosine
    rules: {weight_format_init: true}
    steps:
      - {name: first, precision: {level: O1, loss_scale: 8}, blocks: {plain: other}, set: {N: N*2}}
      - {name: second, after: first, rules: {weight_format_init: false}, samples: N}
)");
  const Outcome search = remedy({"--cases", path("two.yaml"), "--step", "second", "--out",
                                 path("steps.yaml"), "--json", path("remedy.json")});
  ASSERT_EQ(search.code, kAllWell) << search.err;
  const std::string steps = read("steps.yaml");
  EXPECT_THAT(steps, AllOf(HasSubstr("loss_scale: 8"), HasSubstr("plain: other"), HasSubstr("N*2"),
                           HasSubstr("samples: N"), HasSubstr("1.weight_format_init")));
  expect_runs_as_found(path("steps.yaml"), Json::parse(read("remedy.json"))["remedies"][0]);
}

// The profile has 57 TransData and 16 copies, and 4 Cast, which are too few for a price.
TEST_F(RemedyCli, EstimatesWhatStepsSaveOnTheDevice) {
  const std::string profile =
      source_file("tests/data/profiles/kernel_details/alexnet_level1_rank0.csv");
  const Outcome search = remedy({"--cases", unit(), "--context", "stride1", "--profile", profile,
                                 "--json", path("remedy.json")});
  ASSERT_EQ(search.code, kAllWell) << search.err;
  EXPECT_THAT(search.out,
              AllOf(HasSubstr("TransData: 57 kernels of 13 sizes"),
                    HasSubstr("Cast: 4 kernels of 4 sizes, no price"), HasSubstr("; estimated ")));
  const Json step = Json::parse(read("remedy.json"))["remedies"][0]["ladder"][0];
  const double us = step["estimated_saving"]["us"];
  EXPECT_NEAR(step["estimated_saving"]["share_of_step"].get<double>(), us / 136581, 1e-6);
  EXPECT_GT(us, 14 * 17.26);  // of 14 TransData, each costs that much at least
}

TEST_F(RemedyCli, WritesToStandardOutput) {
  const Outcome search = remedy({"--cases", unit(), "--context", "stride2", "--out", "-"});
  EXPECT_EQ(search.code, kAllWell);
  EXPECT_THAT(search.out, AllOf(HasSubstr("# Written by: "), HasSubstr("contexts:"),
                                Not(HasSubstr("lower bound"))));
  EXPECT_THAT(search.err, HasSubstr("lower bound"));
}

// A name with a line break does not end the comment.
TEST_F(RemedyCli, QuotesItsCommandLine) {
  const std::string steps = path("a\ncontexts: 1");
  ASSERT_EQ(remedy({"--cases", unit(), "--context", "stride1", "--out", steps}).code, kAllWell);
  EXPECT_EQ(run_program({"--cases", steps, "--dry-run"}).code, kAllWell);
}

TEST_F(RemedyCli, SaysWhereItStopsEarly) {
  const Outcome search =
      remedy({"--cases", source_file("cases/shufflenet_v2_training.yaml"), "--limit", "1"});
  EXPECT_EQ(search.code, kAllWell) << search.err;
  EXPECT_THAT(search.out, HasSubstr("not proved: the best found of"));
}

TEST_F(RemedyCli, AContextWithoutChoicesHasNothingToSpare) {
  const Outcome search = remedy({"--cases", source_file("cases/conv_context.yaml")});
  EXPECT_EQ(search.code, kAllWell);
  EXPECT_THAT(search.out, HasSubstr("nothing to save"));
}

TEST_F(RemedyCli, SaysWhatIsNotThere) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{}, "remedy takes --cases FILE"},
      {{"--cases", path("none.yaml")}, "none.yaml"},
      {{"--cases", unit(), "--context", "stride3"}, "there is no context 'stride3'"},
      {{"--cases", unit(), "--step", "halves"}, "stride1 has no step 'halves'"},
      {{"--cases", unit(), "--set", "M=1"}, "M"},
      {{"--cases", unit(), "--dtype", "fp32,fp16"}, "one dtype"},
      {{"--cases", unit(), "--limit", "0"}, "--limit is 0"},
      {{"--cases", unit(), "--profile", path("none.csv")}, "--profile: cannot read"},
      {{"--cases", unit(), "--out", unit()}, "--out"},
      {{"--cases", unit(), source_file("cases/conv_context.yaml"), "--out", path("steps.yaml")},
       "--out writes the contexts of one case file"},
      {{"--cases", source_file("cases/shufflenet_v2_training.yaml"), "--step", "13.streams"},
       "cannot be planned"},
  };
  for (const auto& [arguments, message] : wrong) {
    const Outcome search = remedy(arguments);
    EXPECT_EQ(search.code, kBadInput) << message;
    EXPECT_THAT(search.err, HasSubstr(message));
  }
  EXPECT_EQ(remedy({"--cases", source_file("cases/resnet.yaml")}).code, kNothingToJudge);
}

}  // namespace opbench
