#include <gmock/gmock.h>

#include <random>
#include <set>

#include "profiles/task.h"
#include "tests/profiles/profiles.h"

namespace opbench {
namespace {

using testing::ElementsAre;

struct Told {
  std::int64_t start_us = 0, duration_us = 0;
  std::string_view stream = "1", step = "";
  std::uint32_t op = 0;
  bool is_watched = false;
  std::uint32_t type = 0;
};

DeviceTask task_of(const Told& told) {
  DeviceTask task;
  task.start_ns = 1'736'408'883'704'643'212 + told.start_us * 1000;
  task.duration_ps = told.duration_us * kUs;
  task.stream = told.stream;
  task.step = told.step;
  task.file = "k.csv";
  task.line = told.start_us;
  return task;
}

void add(TaskOrder& order, const Told& told) {
  order.add(task_of(told), {told.op, told.type, told.is_watched});
}

void add_communication(TaskOrder& order, const Told& told) {
  order.add_communication(task_of(told));
}

TaskOrder order_of(const std::vector<Told>& all, std::int64_t small_us = 0) {
  TaskOrder order(small_us * kUs);
  for (const Told& told : all) add(order, told);
  order.end_file();
  return order;
}

// By hand: 0 to 10 on one stream, 5 to 12 and 20 to 30 on another are 22 of 30 microseconds.
TEST(TaskOrder, CountsOverlappingTimeOnce) {
  const TaskOrder order = order_of(
      {{0, 10, "1", "", 0}, {5, 7, "2", "", 1}, {20, 10, "2", "", 1}, {21, 2, "1", "", 2}});
  EXPECT_TRUE(order.is_known());
  EXPECT_EQ(order.span_ps(), 30 * kUs);
  EXPECT_EQ(order.busy_ps(), 22 * kUs);
  EXPECT_EQ(order.busy_ps(0), 10 * kUs);
  EXPECT_EQ(order.busy_ps(1), 12 * kUs);
  EXPECT_EQ(order.busy_ps(2), 0);
  EXPECT_EQ(order.busy_ps(99), 0);
  EXPECT_FALSE(order.has_steps());
}

// Time between steps belongs to no step.
TEST(TaskOrder, StepsAreFromTheirFirstToTheirLastTask) {
  const TaskOrder order = order_of({{0, 4, "1", "1"}, {6, 4, "1", "1"}, {100, 5, "1", "2"}});
  EXPECT_TRUE(order.has_steps());
  EXPECT_EQ(order.steps(), 2);
  EXPECT_EQ(order.span_ps(), 15 * kUs);
  EXPECT_EQ(order.busy_ps(), 13 * kUs);
}

// By hand: computing runs from 0 to 10 and from 30 to 40, communication from 5 to 25 and from 20 to
// 28, in a step from 0 to 40.
TEST(TaskOrder, KnowsWhatOfAStepIsCommunication) {
  TaskOrder order(0);
  add(order, {0, 10, "1", "7", 0});
  add_communication(order, {5, 20, "", "7"});
  add_communication(order, {20, 8, "", "7"});
  add(order, {30, 10, "1", "7", 1});
  order.end_file();
  EXPECT_TRUE(order.is_communication_known());
  EXPECT_EQ(order.span_ps(), 40 * kUs);
  EXPECT_EQ(order.busy_ps(), 20 * kUs);
  EXPECT_EQ(order.communication_ps(), 23 * kUs);
  EXPECT_EQ(order.communication_alone_ps(), 18 * kUs);
  EXPECT_EQ(order.idle_before(0).total_ps, 0);
  EXPECT_EQ(order.idle_before(1).total_ps, 2 * kUs);
}

// A trace lists communication separately. The order of computing is still known.
TEST(TaskOrder, DoesNotKnowCommunicationThatComesTooLate) {
  TaskOrder order(0);
  for (int i = 0; i < 10'000; ++i) add(order, {2 * i, 1});
  add_communication(order, {5, 1});
  order.end_file();
  EXPECT_TRUE(order.is_known());
  EXPECT_FALSE(order.is_communication_known());
}

// Compares with a count of every microsecond, with tasks slightly out of order.
TEST(TaskOrder, AgreesWithCountingMicroseconds) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<Told> tasks;
    std::set<std::int64_t> busy;
    for (int i = 0; i < 60; ++i) {
      const auto start = static_cast<std::int64_t>(random() % 300);
      const auto duration = static_cast<std::int64_t>(random() % 12);
      tasks.push_back({start, duration, i % 2 == 0 ? "1" : "2", "", std::uint32_t(i % 5)});
      for (std::int64_t t = start; t < start + duration; ++t) busy.insert(t);
    }
    const TaskOrder order = order_of(tasks);
    ASSERT_TRUE(order.is_known());
    EXPECT_EQ(order.busy_ps(), std::ssize(busy) * kUs);
    std::int64_t charged = 0;
    for (std::uint32_t op = 0; op < 5; ++op) charged += order.busy_ps(op);
    EXPECT_EQ(charged, order.busy_ps());
  }
}

TEST(TaskOrder, FindsWhatStandsAroundAnOperatorOnItsStream) {
  const TaskOrder order = order_of({{0, 1, "1", "", 0},
                                    {1, 1, "2", "", 9},
                                    {2, 3, "1", "", 1, true},
                                    {3, 1, "2", "", 8},
                                    {6, 1, "1", "", 2},
                                    {7, 1, "1", "", 0},
                                    {8, 4, "1", "", 1, true},
                                    {13, 1, "1", "", 2}});
  const std::vector<Neighbours> found = order.neighbours();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].before, 0U);
  EXPECT_EQ(found[0].op, 1U);
  EXPECT_EQ(found[0].after, 2U);
  EXPECT_EQ(found[0].count, 2);
  EXPECT_EQ(found[0].total_ps, 7 * kUs);
}

TEST(TaskOrder, FindsRowsOfSmallTasks) {
  std::vector<Told> tasks;
  for (int i = 0; i < 3; ++i) {
    const std::int64_t at = 100 * i;
    tasks.push_back({at, 2, "1", "", 0, false, 4});
    tasks.push_back({at + 10, 3, "1", "", 1, false, 5});
    tasks.push_back({at + 20, 50, "1", "", 2, false, 6});
    tasks.push_back({at + 80, 1, "1", "", 2, false, 7});
    tasks.push_back({at + 82, 40, "1", "", 2, false, 6});
  }
  const std::vector<SmallRun> runs = order_of(tasks, 5).small_runs();
  ASSERT_EQ(runs.size(), 1U);  // a single task is not a row
  EXPECT_THAT(runs[0].types, ElementsAre(4, 5));
  EXPECT_EQ(runs[0].count, 3);
  EXPECT_EQ(runs[0].busy_ps, 15 * kUs);
  EXPECT_EQ(runs[0].span_ps, 39 * kUs);
  EXPECT_EQ(runs[0].line, 0);
}

// The communication of line 10 ends before the task of line 52, which waited for it from 20 on. The
// task of line 15 began meanwhile; that of line 60 found no communication.
TEST(TaskOrder, KnowsTheTasksThatWaitForCommunication) {
  TaskOrder order(0);
  add(order, {0, 5, "1", "", 0});
  add_communication(order, {10, 40, "2"});
  add(order, {15, 5, "1", "", 1});
  add(order, {52, 5, "1", "", 2});
  add(order, {60, 5, "1", "", 3});
  order.end_file();
  ASSERT_EQ(order.communication_waits().size(), 1U);
  const CommunicationWait& one = order.communication_waits()[0];
  EXPECT_EQ(one.op, 2U);
  EXPECT_EQ(one.wait_ps, 30 * kUs);
  EXPECT_EQ(one.line, 52);
  EXPECT_EQ(one.awaited_line, 10);
}

// A table that was sorted by duration does not show the order.
TEST(TaskOrder, IsNotKnownWhereTasksComeTooLate) {
  std::vector<Told> tasks;
  for (int i = 20'000; i > 0; --i) tasks.push_back({i, 1});
  EXPECT_FALSE(order_of(tasks).is_known());
  EXPECT_FALSE(order_of({}).is_known());
}

TEST(TaskOrder, IsNotKnownWithoutStartTimes) {
  TaskOrder order(0);
  add(order, {0, 1});
  DeviceTask task;
  task.duration_ps = kUs;
  order.add(task, {});
  order.end_file();
  EXPECT_FALSE(order.is_known());
}

TEST(TaskOrder, HoldsTimesThatNobodyMeasured) {
  TaskOrder order(0);
  for (const std::int64_t start : {std::int64_t{0}, INT64_MAX, INT64_MIN, std::int64_t{1} << 51}) {
    for (const std::int64_t duration : {std::int64_t{0}, INT64_MAX, std::int64_t{1} << 60}) {
      DeviceTask task;
      task.start_ns = start;
      task.duration_ps = duration;
      order.add(task, {});
    }
  }
  order.end_file();
  EXPECT_FALSE(order.is_known());
  EXPECT_GE(order.span_ps(), 0);
}

// A step and a stream for every task must not take longer than one step and stream.
TEST(TaskOrder, HoldsAStepAndAStreamForEachTask) {
  TaskOrder order(0);
  for (int i = 0; i < 150'000; ++i) {
    const std::string text = std::to_string(i);
    add(order, {i, 1, text, text});
  }
  order.end_file();
  EXPECT_TRUE(order.is_known());
  EXPECT_EQ(order.steps(), 100'000);
}

// Two files have separate times, so tasks of the first do not cover tasks of the second.
TEST(TaskOrder, FilesDoNotCoverOneAnother) {
  TaskOrder order(0);
  add(order, {0, 10});
  order.end_file();
  add(order, {5, 10});
  order.end_file();
  EXPECT_EQ(order.busy_ps(), 20 * kUs);
  EXPECT_EQ(order.steps(), 2);
}

}  // namespace
}  // namespace opbench
