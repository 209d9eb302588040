#include "harness/run/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/records.h"

namespace opbench {
namespace {

// A record with one call in each of these times, preempted `preemptions` times in total.
Record with_samples(std::vector<double> us, std::int64_t preemptions,
                    const std::string& variant = "native") {
  Record record = timed_record(std::move(us), "softplus[64,fp32]", variant);
  record.times->preemptions = preemptions;
  return record;
}

// Times of oneDNN on two cores next to a program that computes: its barrier spins until the tick.
const std::vector<double> kTicks = {15741, 11990, 15731, 8002, 15652, 15848, 19907, 27833, 4001};

}  // namespace

// Samples that show other work of the machine, and the consequences.
TEST(Disturbed, WholeTicksOfTheScheduler) {
  EXPECT_TRUE(is_disturbed(with_samples(kTicks, 9)));
  EXPECT_TRUE(is_disturbed(with_samples({15990, 16010, 15950}, 3))) << "equal ones, too";
  EXPECT_FALSE(is_disturbed(with_samples({15990, 16010, 15950}, 2))) << "nothing took a core";
  EXPECT_FALSE(is_disturbed(with_samples({14010, 14020, 13990}, 30))) << "between two ticks";
  EXPECT_TRUE(is_disturbed(with_samples({15990, 16010, 15950, 14010}, 9))) << "three of four";
  EXPECT_FALSE(is_disturbed(with_samples({15990, 16010, 14000, 14010}, 9)));
  EXPECT_FALSE(is_disturbed(with_samples({57.1, 57.3, 57.2}, 300))) << "shorter than a tick";
}

TEST(Disturbed, AMedianFarAboveTheBest) {
  EXPECT_TRUE(is_disturbed(with_samples({60, 125, 130, 140, 125}, 0)));
  EXPECT_FALSE(is_disturbed(with_samples({60, 60, 61, 140, 900}, 0))) << "outliers alone";
  EXPECT_FALSE(is_disturbed(with_samples({100, 190, 195, 200, 180}, 0)));
  EXPECT_FALSE(is_disturbed(with_samples({60, 140}, 0))) << "two say nothing";
  EXPECT_FALSE(is_disturbed(record_of())) << "not timed";
}

TEST(Disturbed, IsComparedWithNothing) {
  std::vector<Record> records = {with_samples({100, 100, 100}, 0),
                                 with_samples(kTicks, 9, "onednn"),
                                 with_samples({50, 50, 50}, 0, "fast")};
  compare_variants(records);
  EXPECT_EQ(records[1].times->speedup_over_native, 0);
  EXPECT_EQ(records[2].times->speedup_over_native, 2);
  EXPECT_TRUE(records[2].is_best);

  records = {with_samples(kTicks, 9), with_samples({4, 30, 30}, 0, "quick"),
             with_samples({50, 50, 50}, 0, "fast")};
  compare_variants(records);
  EXPECT_EQ(records[2].times->speedup_over_native, 0) << "native is no measure";
  EXPECT_FALSE(records[1].is_best) << "30 us may be less without the others";
  EXPECT_TRUE(records[2].is_best);
}

namespace {

Record record(const std::string& variant, const std::string& isa, bool cold = false) {
  Record record = record_of("relu[64,fp32]", variant);
  record.threads = 2;
  record.isa = isa;
  record.cold = cold;
  return record;
}

}  // namespace

TEST(BenchmarkName, SaysWhatWasMeasuredHow) {
  EXPECT_EQ(benchmark_name(record("native", "AVX2")), "relu[64,fp32]/native/threads:2");
  EXPECT_EQ(benchmark_name(record("relu", "AVX2", true)), "relu[64,fp32]/relu/threads:2/cold");
}

TEST(BenchmarkName, InstructionSetsAreNamedWhereOneNameHasSeveral) {
  const std::vector<Record> records = {record("native", "AVX2"), record("relu", "AVX2"),
                                       record("native", "AVX3")};
  EXPECT_THAT(benchmark_names(records),
              testing::ElementsAre("relu[64,fp32]/native/threads:2/isa:AVX2",
                                   "relu[64,fp32]/relu/threads:2",
                                   "relu[64,fp32]/native/threads:2/isa:AVX3"));
}

}  // namespace opbench
