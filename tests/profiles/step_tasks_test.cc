#include "profiles/step_tasks.h"

#include <gmock/gmock.h>

#include <limits>

namespace opbench {
namespace {

DeviceTask task_at(std::int64_t start_ns, std::string_view step, std::string_view name = "a") {
  DeviceTask task;
  task.name = name;
  task.type = "Add";
  task.step = step;
  task.stream = "7";
  task.device = "0";
  task.file = "k.csv";
  task.start_ns = start_ns;
  task.duration_ps = 1'000'000;
  return task;
}

StepTasks steps_of(const std::vector<DeviceTask>& tasks) {
  StepTasks steps;
  for (const DeviceTask& task : tasks) steps.add(task);
  return steps;
}

}  // namespace

// 1.7e18 ns is a time of day, which a double cannot hold to the nanosecond.
TEST(StepTasks, AreThoseOfTheSecondStepByTheirStarts) {
  constexpr std::int64_t kDay = 1'736'408'883'704'643'212;
  const StepTasks steps =
      steps_of({task_at(kDay, "1"), task_at(kDay + 9'001, "2", "late"),
                task_at(kDay + 5'000, "2", "early"), task_at(kDay + 99'000, "3")});
  const std::vector<StepTask> tasks = steps.tasks();
  ASSERT_EQ(tasks.size(), 2u);
  EXPECT_EQ(steps.step(), "2");
  EXPECT_EQ(tasks[0].name, "early");
  EXPECT_EQ(tasks[0].start_us, 0);
  EXPECT_EQ(tasks[1].start_us, 4.001);
  EXPECT_EQ(tasks[1].stream, "7");
}

TEST(StepTasks, OneStepIsTheFirst) {
  EXPECT_EQ(steps_of({task_at(5, ""), task_at(6, "")}).tasks().size(), 2u);
}

TEST(StepTasks, WithoutStartsAndOfOtherDevicesThereAreNone) {
  DeviceTask none = task_at(0, "1"), sums = task_at(0, "1"), other = task_at(7, "1");
  none.start_ns.reset();
  sums.count = 3;
  other.device = "1";
  EXPECT_TRUE(steps_of({none, sums}).tasks().empty());
  EXPECT_EQ(steps_of({task_at(5, "1"), other}).tasks().size(), 1u);
}

TEST(StepTasks, MoreThanCanBeDrawnAreCounted) {
  StepTasks steps;
  for (std::size_t i = 0; i < StepTasks::kMost + 5; ++i) {
    steps.add(task_at(static_cast<std::int64_t>(i), "1"));
  }
  EXPECT_EQ(steps.tasks().size(), StepTasks::kMost);
  EXPECT_EQ(steps.left_out(), 5);
}

TEST(StepTasks, StartsMayBeAsFarApartAsNumbersGo) {
  using Limits = std::numeric_limits<std::int64_t>;
  const auto tasks = steps_of({task_at(Limits::max(), "1"), task_at(Limits::min(), "1")}).tasks();
  EXPECT_EQ(tasks[1].start_us, 18446744073709551615.0 / 1e3);
}

}  // namespace opbench
