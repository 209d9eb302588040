// Compares dumps of a job's ranks and steps with those of another job, through the command line.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/cli.h"
#include "dump/arrays/numpy_writer.h"
#include "tests/support/program.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class CompareJobCli : public testing::Test, protected TempDir {
 protected:
  void array(const std::string& name, const std::vector<float>& values) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    NpyWriter writer(path(name), StoredType::f32, {static_cast<std::int64_t>(values.size())});
    writer.write(values.data(), values.size() * sizeof(float));
    writer.finish();
  }
  // Two steps of three ranks. All dumps agree unless a test changes them. Weights are equal on all
  // ranks, outputs differ.
  void SetUp() override {
    for (const char* side : {"npu", "gpu"}) {
      for (int step = 0; step < 2; ++step) {
        for (int rank = 0; rank < 3; ++rank) {
          const std::string at = fmt::format("{}/step{}/rank{}", side, step, rank);
          const auto shift = static_cast<float>(rank);
          array(at + "/Mul/1/input/weight.npy", {1, 2, 3});
          array(at + "/Mul/1/output/result.npy", {4 + shift, 5, 6});
          array(at + "/Add/2/output/result.npy", {7 + shift, 8, 9});
        }
      }
    }
  }
  Outcome compare(std::vector<std::string> more = {}) const {
    std::vector<std::string> args = {"compare", path("npu"), path("gpu")};
    args.insert(args.end(), more.begin(), more.end());
    return run_program(args);
  }
};

TEST_F(CompareJobCli, AgreesAndSaysOfHowManyDumps) {
  const Outcome outcome = compare();
  EXPECT_EQ(outcome.code, kAllWell) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("dumps of 3 ranks at 2 steps, standard mixed"));
  EXPECT_THAT(outcome.out, HasSubstr("18 tensors compared: 18 passed, 0 failed"));
  EXPECT_THAT(outcome.err, HasSubstr("comparing 6 dumps"));
}

TEST_F(CompareJobCli, NamesTheFirstStepRankAndOperator) {
  array("npu/step1/rank0/Add/2/output/result.npy", {0, 0, 0});
  array("npu/step1/rank2/Mul/1/output/result.npy", {0, 0, 0});
  const Outcome outcome = compare({"-o", path("out")});
  EXPECT_EQ(outcome.code, kVerdictFailed);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("The first error is in step 1, rank 2, Mul, call 1"),
                                 HasSubstr("/step1/rank2/Mul/1/output/result"),
                                 HasSubstr("2 of 6 dumps have tensors that fail")));
  const auto summary = nlohmann::json::parse(read("out/summary.json"));
  EXPECT_EQ(summary["first_departure"]["step"], 1);
  EXPECT_EQ(summary["first_departure"]["rank"], 2);
  EXPECT_EQ(summary["first_departure"]["tensor"], "/Mul/1/output/result");
  EXPECT_EQ(summary["ranks"].size(), 6u);
  EXPECT_EQ(summary["counts"]["failed"], 2);
  const auto one = nlohmann::json::parse(read("out/step1/rank2/compare.json"));
  EXPECT_EQ(one["counts"]["failed"], 1);
  EXPECT_THAT(read("out/summary.csv"), HasSubstr("1,2,failed,2,1,0,0,0,2,1,0,Mul,1,"));
}

TEST_F(CompareJobCli, ReplicasThatDifferInTheirLastBitAreSeenThoughAllPass) {
  array("npu/step1/rank1/Mul/1/input/weight.npy", {1, 2, std::nextafter(3.0F, 4.0F)});
  const Outcome outcome = compare({"-o", path("out")});
  EXPECT_EQ(outcome.code, kVerdictFailed);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("FAILED"), HasSubstr("18 passed, 0 failed"),
                                 HasSubstr("step 1, /Mul/1/input/weight: rank 1 differs from the "
                                           "others of ranks 0, 1, 2")));
  const auto replicas = nlohmann::json::parse(read("out/summary.json"))["replicas"];
  EXPECT_EQ(replicas["checked"], 2);
  ASSERT_EQ(replicas["split"].size(), 1u);
  EXPECT_EQ(replicas["split"][0]["apart"], nlohmann::json::array({1}));
  EXPECT_EQ(compare({"--fail-on", "none"}).code, kAllWell);
}

TEST_F(CompareJobCli, WhatOneSideLacksIsToldAndNotFinished) {
  fs::remove_all(path("gpu/step1/rank1"));
  const Outcome outcome = compare();
  EXPECT_EQ(outcome.code, kCouldNotFinish);
  EXPECT_THAT(outcome.out, HasSubstr("1 dump only in "));
  EXPECT_THAT(outcome.out, HasSubstr("  step 1, rank 1\n"));
}

TEST_F(CompareJobCli, ARankThatCannotBeReadCostsNoOther) {
  fs::remove_all(path("npu/step0/rank1"));
  fs::create_directories(path("npu/step0/rank1"));
  const Outcome outcome = compare({"-o", path("out")});
  EXPECT_EQ(outcome.code, kCouldNotFinish);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("1 dump could not be compared as a whole"),
                                 HasSubstr("step 0, rank 1: "), HasSubstr("holds no dump"),
                                 HasSubstr("15 tensors compared: 15 passed")));
  EXPECT_FALSE(fs::exists(path("out/step0/rank1")));
}

TEST_F(CompareJobCli, StatesWhyTensorsAreUnread) {
  fs::resize_file(path("npu/step0/rank1/Add/2/output/result.npy"), 130);
  const Outcome outcome = compare();
  EXPECT_EQ(outcome.code, kCouldNotFinish);
  EXPECT_THAT(outcome.out, HasSubstr("step 0, rank 1: 1 tensor could not be read, first "
                                     "/Add/2/output/result:\n"));
}

TEST_F(CompareJobCli, RefusesWhatIsForOnePair) {
  EXPECT_THAT(compare({"--advisor", "-o", path("out")}).err,
              HasSubstr("--advisor is for one pair of dumps, not for folders of ranks"));
  const Outcome golden = compare({"--golden", path("npu/step0/rank0")});
  EXPECT_EQ(golden.code, kBadInput);
  EXPECT_THAT(golden.err, HasSubstr("has no dump of step 0, rank 0; it must be laid out like"));
  fs::rename(path("gpu/step0"), path("gpu/step7"));
  fs::remove_all(path("gpu/step1"));
  const Outcome none = compare();
  EXPECT_EQ(none.code, kBadInput);
  EXPECT_THAT(none.err, HasSubstr("have no rank and step in common"));
}

// Ranks 0 and 1 hold halves of a matrix's columns and parts of a sum. Rank 2 belongs to another
// group.
class CompareShardsCli : public CompareJobCli {
 protected:
  void SetUp() override {
    for (int step = 0; step < 2; ++step) {
      const std::string at = fmt::format("whole/step{}/", step);
      array(at + "Up/1/output/0.npy", {1, 2, 3, 4});
      array(at + "Down/2/output/0.npy", {10, 20});
      array(at + "Norm/3/output/0.npy", {5, 6});
      for (int rank = 0; rank < 2; ++rank) {
        const std::string part = fmt::format("job/rank{}/step{}/", rank, step);
        const auto shift = static_cast<float>(2 * rank);
        array(part + "Up/1/output/0.npy", {1 + shift, 2 + shift});
        array(part + "Down/2/output/0.npy", {rank == 0 ? 4.0F : 6.0F, 10});
        array(part + "Norm/3/output/0.npy", {5, 6});
      }
    }
    write("rules.yaml", "rules: [{tensors: Up, join: column}, {tensors: Down, join: row}]\n");
  }
  Outcome compare(const std::string& whole, std::vector<std::string> more = {}) const {
    std::vector<std::string> args = {"compare", path("job"), path(whole), "--shards",
                                     path("rules.yaml")};
    args.insert(args.end(), more.begin(), more.end());
    return run_program(args);
  }
};

TEST_F(CompareShardsCli, PartsMakeTheWhole) {
  const Outcome outcome = compare("whole", {"-o", path("out")});
  EXPECT_EQ(outcome.code, kAllWell) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("6 tensors compared: 6 passed"));
  const auto summary = nlohmann::json::parse(read("out/summary.json"));
  EXPECT_EQ(summary["replicas"]["checked"], 2);
  EXPECT_TRUE(summary["ranks"][0]["rank"].is_null());
  EXPECT_EQ(summary["ranks"][1]["step"], 1);
  EXPECT_TRUE(fs::exists(path("out/step1/compare.json")));
}

TEST_F(CompareShardsCli, AWrongPartAndASplitReplicaAreNamed) {
  array("job/rank1/step1/Up/1/output/0.npy", {3, 40});
  array("job/rank1/step0/Norm/3/output/0.npy", {5, std::nextafter(6.0F, 7.0F)});
  const Outcome outcome = compare("whole");
  EXPECT_EQ(outcome.code, kVerdictFailed);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("The first error is in step 1, Up, call 1"),
                                 HasSubstr("worst at [3]: 40, expected 4"),
                                 HasSubstr("step 0, /Norm/3/output/0: ranks 0 and 1 differ")));
}

TEST_F(CompareShardsCli, RefusesWhatCannotBeJoined) {
  EXPECT_THAT(compare("whole/step0").err, HasSubstr("have no step in common"));
  EXPECT_THAT(compare("whole", {"--golden", path("whole")}).err,
              HasSubstr("--shards and --golden: only one is allowed"));
  write("rules.yaml", "ranks: [0, 5]");
  EXPECT_THAT(compare("whole").err,
              HasSubstr("rules.yaml: ranks: there is no dump of step 0, rank 5"));
  fs::rename(path("job"), path("gone"));
  fs::create_directories(path("job"));
  const Outcome outcome = compare("whole");
  EXPECT_EQ(outcome.code, kBadInput);
  EXPECT_THAT(outcome.err, HasSubstr("--shards: "));
  EXPECT_THAT(outcome.err, HasSubstr("it must be laid out as rank*/step*, step*/rank* or rank*"));
}

}  // namespace
}  // namespace opbench
