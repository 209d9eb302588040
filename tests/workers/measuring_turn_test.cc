#include "workers/measuring_turn.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/support/refusal.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

using testing::HasSubstr;

class Turns : public testing::Test, protected TempDir {
 protected:
  const std::string file_ = path("measuring.lock");
};

}  // namespace

// Locks belong to open files, so threads with their own files stand for processes.
TEST_F(Turns, WhoMeasuresIsAlone) {
  std::atomic<int> computing{0}, measuring{0}, measured{0}, broken{0};
  const auto work = [&] {
    const MeasuringTurns turns(file_);
    for (int i = 0; i < 25; ++i) {
      const ComputingTurn computes(&turns);
      ++computing;
      if (measuring != 0) ++broken;
      std::this_thread::yield();
      --computing;
      const MeasuringTurn measures(&turns);
      if (++measuring != 1 || computing != 0) ++broken;
      std::this_thread::yield();
      --measuring;
      ++measured;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(measured, 100);
  EXPECT_EQ(broken, 0);
}

TEST_F(Turns, SeveralComputeAtOnceAndTellWhenTheyWait) {
  std::vector<bool> waits;
  const MeasuringTurns first(file_), second(file_, [&](bool waiting) { waits.push_back(waiting); });
  first.begin_computing();
  second.begin_computing();  // does not wait
  EXPECT_THAT(waits, testing::ElementsAre(true, false));
  first.end();
  second.end();
}

TEST_F(Turns, WithoutOthersThereIsNothingToTake) {
  const ComputingTurn computes(nullptr);
  const MeasuringTurn measures(nullptr);
}

TEST_F(Turns, AFileThatCannotBeWrittenIsNamed) {
  EXPECT_THAT(refusal_by([&] { MeasuringTurns(path("none") + "/lock"); }),
              HasSubstr("none/lock.gate', by which processes take turns to measure: No such file"));
}

}  // namespace opbench
