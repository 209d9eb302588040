#include "harness/run/join_results.h"

#include <gmock/gmock.h>

#include "tensor/error.h"

namespace opbench {
namespace {

ResultsFile file_with(const std::string& path, const std::vector<std::string>& ids) {
  ResultsFile file;
  file.path = path;
  file.command = "opbench > " + path;
  file.machine.cpu = "CPU";
  file.machine.cores = 4;
  file.run.times = {8, 1, 1, 1, 4, 0.5};
  file.run.cases_run = ids.size();
  file.run.largest_case_bytes = ids.size() * 100;
  for (const std::string& id : ids) {
    Record record;
    record.case_id = id;
    record.variant = "native";
    file.run.records.push_back(record);
  }
  return file;
}

std::string refusal(const ResultsFile& first, const ResultsFile& second) {
  try {
    join_results({first, second});
    return "joined";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

TEST(JoinResults, ShardsBecomeOneRun) {
  ResultsFile second = file_with("b", {"3"});
  second.run.was_interrupted = true;
  second.machine.date = "later";
  const ResultsFile joined = join_results({file_with("a", {"1", "2"}), second});
  EXPECT_EQ(joined.command, "opbench > a\nopbench > b");
  ASSERT_EQ(joined.run.records.size(), 3u);
  EXPECT_EQ(joined.run.records[2].case_id, "3");
  EXPECT_EQ(joined.run.cases_run, 3u);
  EXPECT_EQ(joined.run.largest_case_bytes, 200u);
  EXPECT_EQ(joined.run.times.total, 16);
  EXPECT_EQ(joined.run.times.overhead(), 1);
  EXPECT_TRUE(joined.run.was_interrupted);
  EXPECT_EQ(joined.machine.date, "");
}

TEST(JoinResults, OneFileStaysAsItIs) {
  const ResultsFile joined = join_results({file_with("a", {"1", "1"})});
  EXPECT_EQ(joined.path, "a");
  EXPECT_EQ(joined.run.records.size(), 2u);
}

TEST(JoinResults, RefusesOtherMachinesAndBuilds) {
  const ResultsFile first = file_with("a", {"1"});
  ResultsFile second = file_with("b", {"2"});
  second.machine.cpu = "Other";
  EXPECT_EQ(refusal(first, second),
            "b: machine.cpu is 'Other', and 'CPU' in a; only results of one machine and one build "
            "can be joined: report them apart");
  second = file_with("b", {"2"});
  second.machine.cores = 2;
  EXPECT_THAT(refusal(first, second), testing::StartsWith("b: machine.cores is '2', and '4' in a"));
  second = file_with("b", {"2"});
  second.machine.revision = "x-dirty";
  EXPECT_THAT(refusal(first, second), testing::StartsWith("b: machine.revision is 'x-dirty'"));
  second = file_with("b", {"2"});
  second.machine.libraries = {{"oneDNN", "3"}, {"HDF5", "1"}};
  EXPECT_THAT(refusal(first, second),
              testing::StartsWith("b: machine.libraries is 'oneDNN 3, HDF5 1', and '' in a"));
}

TEST(JoinResults, RefusesAResultThatIsThereTwice) {
  EXPECT_EQ(refusal(file_with("a", {"1", "2"}), file_with("b", {"2"})),
            "b: 2/native/threads:1 (isa ) is in a too; a result can be joined once");
  ResultsFile other_isa = file_with("b", {"2"});
  other_isa.run.records[0].isa = "avx2";
  EXPECT_EQ(refusal(file_with("a", {"1", "2"}), other_isa), "joined");
}

}  // namespace opbench
