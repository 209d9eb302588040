// Every cheat must be detected, and every correct kernel must pass.
#include "tests/lab/selftest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace opbench {
namespace {

const Cheat& cheat_called(std::string_view name) {
  const auto found = std::find_if(all_cheats().begin(), all_cheats().end(),
                                  [&](const Cheat& cheat) { return cheat.name == name; });
  EXPECT_NE(found, all_cheats().end()) << name;
  return *found;
}

Record run_cheat(std::string_view name, const char* id, const char* variant, int threads = 2) {
  const Cheat& cheat = cheat_called(name);
  return run_planted(plan_one(id, variant), cheat.wrap, short_run(cheat.seconds), threads);
}

// Empty if no check detected the cheat.
std::string check_that_caught(std::string_view name) {
  return caught_by(run_cheat(name, "softplus[4095,fp32]", "softplus_v2"));
}

Launch nothing_wrapped(Launch honest, const Problem&) { return honest; }

}  // namespace

TEST(Selftest, EveryCheatIsCaughtAndNobodyIsAccused) {
  const SelftestResult result = run_selftest({false, 2}, nullptr);
  EXPECT_GE(result.cheats.size(), 20u);
  for (const CheatRow& row : result.cheats) {
    EXPECT_GT(row.tried, 0) << row.cheat->name;
    EXPECT_EQ(row.caught, row.tried)
        << row.cheat->name << ": " << testing::PrintToString(row.missed);
  }
  for (const Accusation& accused : result.accusations) {
    ADD_FAILURE() << accused.case_id << ' ' << accused.variant << ": " << accused.reason;
  }
  EXPECT_GT(result.variants, 100);
  EXPECT_TRUE(result.is_all_well());
}

TEST(Selftest, AnHonestKernelThatIsWrappedPasses) {
  const Record record =
      run_planted(plan_one("softplus[4095,fp32]", "softplus_v2"), nothing_wrapped, short_run(), 2);
  EXPECT_EQ(record.status, Status::passed) << record.reason;
  EXPECT_EQ(caught_by(record), "");
  EXPECT_EQ(record.times->samples.size(), 2u);
}

TEST(Selftest, GuardZonesShowReadsBeyondTheEnd) {
  EXPECT_EQ(check_that_caught("reads-past-end"), "verification");
}

// A cheat that passes verification is detected while it is timed.
TEST(Selftest, TimedCallsAreCheckedCalls) {
  EXPECT_EQ(check_that_caught("on-poison"), "skipped call");
  EXPECT_EQ(check_that_caught("stale-by-content"), "skipped call");
  EXPECT_EQ(check_that_caught("batch-and-skip"), "skipped call");
  EXPECT_EQ(check_that_caught("after-the-clock"), "skipped call");
  EXPECT_EQ(check_that_caught("copy-by-content"), "timed result");
  EXPECT_EQ(check_that_caught("from-memory"), "timed result");
  EXPECT_EQ(check_that_caught("samples-inputs"), "timed result");
  EXPECT_EQ(check_that_caught("learns-places"), "timed result");
}

// One output for a million inputs: a change of a single input would be smaller than its rounding.
TEST(Selftest, ResultsThatManyInputsMakeAreNoHidingPlace) {
  for (const char* name : {"copy-by-content", "from-memory"}) {
    const Record record = run_cheat(name, "mean[1048591,fp32]", "reduce_mean");
    EXPECT_EQ(caught_by(record), "timed result") << name << ": " << record.reason;
  }
}

// A long call is a whole repetition with entirely new inputs.
TEST(Selftest, ALongCallIsCheckedOnInputsThatAreNearlyThoseBefore) {
  for (const char* name : {"copy-by-content", "samples-inputs"}) {
    const Record record = run_cheat(name, "concat[524295,524296,fp32,ND,axis=0]", "concat_d");
    EXPECT_EQ(caught_by(record), "timed result") << name << ": " << record.reason;
  }
}

TEST(Selftest, AMissedCallSaysWhere) {
  const Record record = run_cheat("on-poison", "softplus[4095,fp32]", "softplus_v2", 1);
  EXPECT_THAT(record.reason, testing::MatchesRegex("a timed call left \\[[0-9]+\\] of 'result' as "
                                                   "it was before the call"));
  EXPECT_FALSE(record.is_timed()) << "no time for a call that is none";
}

}  // namespace opbench
