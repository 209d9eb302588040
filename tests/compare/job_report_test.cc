#include "compare/job_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

RankReport rank_at(std::int64_t step, std::int64_t rank) {
  RankReport report;
  report.place = {step, rank};
  report.counts.passed = 3;
  return report;
}

Departure departure_at(std::size_t position) {
  return {position, "Mul", "7", "/Mul/7/x", "off", ""};
}

TEST(JobReport, TheFirstToDepartIsOfTheEarliestStepThenOperatorThenRank) {
  JobReport job;
  for (const auto& [step, rank] : {std::pair{0, 0}, {1, 0}, {1, 1}, {1, 2}, {2, 0}}) {
    job.ranks.push_back(rank_at(step, rank));
  }
  job.ranks[1].departure = departure_at(9);
  job.ranks[2].departure = departure_at(4);
  job.ranks[3].departure = departure_at(4);
  job.ranks[4].departure = departure_at(0);
  conclude(job);
  EXPECT_EQ(job.first, 2u) << "step 1, rank 1";
  EXPECT_EQ(job.counts.passed, 15);
}

TEST(JobReport, ReplicasAreWhatTheExpectedRanksAgreeOn) {
  JobReport job;
  for (int rank = 0; rank < 4; ++rank) job.ranks.push_back(rank_at(0, rank));
  for (RankReport& rank : job.ranks) {
    // Ranks 0 and 1 share a half, ranks 2 and 3 share another: two groups.
    const std::uint64_t half = rank.place.rank < 2 ? 5 : 6;
    rank.digests = {{"/a/weight", 10, 1},
                    {"/b/half", half + 10, half},
                    {"/c/activation", 20 + static_cast<std::uint64_t>(rank.place.rank),
                     30 + static_cast<std::uint64_t>(rank.place.rank)}};
  }
  job.ranks[3].digests[1].actual = 99;
  job.ranks[2].digests[0].actual = 98;
  conclude(job);
  EXPECT_EQ(job.replicas_checked, 3);
  ASSERT_EQ(job.replicas.size(), 2u);
  EXPECT_EQ(job.replicas[0].path, "/a/weight");
  EXPECT_THAT(job.replicas[0].ranks, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(job.replicas[0].apart, ElementsAre(2));
  EXPECT_EQ(job.replicas[1].path, "/b/half");
  EXPECT_THAT(job.replicas[1].ranks, ElementsAre(2, 3));
  EXPECT_THAT(job.replicas[1].apart, ElementsAre(2, 3)) << "two have no majority";
  EXPECT_EQ(verdict_of(job), Verdict::failed);
  EXPECT_EQ(exit_code(job, FailOn::any), kVerdictFailed);
  EXPECT_EQ(exit_code(job, FailOn::none), kAllWell);
}

TEST(JobReport, StepsHaveReplicasOfTheirOwn) {
  JobReport job;
  job.ranks = {rank_at(0, 0), rank_at(1, 0)};
  job.ranks[0].digests = {{"/a/weight", 1, 1}};
  job.ranks[1].digests = {{"/a/weight", 2, 1}};
  conclude(job);
  EXPECT_THAT(job.replicas, IsEmpty());
  EXPECT_EQ(job.replicas_checked, 0);
}

TEST(JobReport, WhatOneSideLacksOrCannotBeReadIsNotFinished) {
  JobReport job;
  job.ranks = {rank_at(0, 0)};
  conclude(job);
  EXPECT_EQ(exit_code(job, FailOn::any), kAllWell);
  job.only_expected = {{0, 1}};
  EXPECT_EQ(exit_code(job, FailOn::any), kCouldNotFinish);
  job.ranks[0].code = kVerdictFailed;
  EXPECT_EQ(exit_code(job, FailOn::any), kVerdictFailed);
  EXPECT_EQ(exit_code(JobReport{}, FailOn::any), kNothingToJudge);
}

TEST(JobReport, IsTheSameAfterItsWayToAnotherProcess) {
  RankReport report = rank_at(3, 4);
  report.error = "cannot open";
  report.code = kCouldNotFinish;
  report.departure = departure_at(5);
  report.digests = {{"/a", 1, 2}, {"/b", 3, 4}};
  const RankReport back = unpack_rank_report(pack(report));
  EXPECT_EQ(back.place, report.place);
  EXPECT_EQ(back.error, "cannot open");
  EXPECT_EQ(back.code, kCouldNotFinish);
  EXPECT_EQ(back.counts.passed, 3);
  EXPECT_EQ(back.departure->tensor, "/Mul/7/x");
  ASSERT_EQ(back.digests.size(), 2u);
  EXPECT_EQ(back.digests[1].expected, 4u);
  report.place.step.reset();
  EXPECT_EQ(unpack_rank_report(pack(report)).place, report.place);
}

}  // namespace
}  // namespace opbench
