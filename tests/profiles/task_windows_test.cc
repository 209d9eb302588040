#include <fmt/format.h>
#include <gmock/gmock.h>

#include "profiles/ingest.h"
#include "profiles/network_context.h"
#include "tensor/error.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

/// A row of a table. `start` is in microseconds; -1 means that it is missing.
struct NamedRow {
  std::string name;
  int start = 0;
  int stream = 0;
};

std::vector<std::string> names_of(const TaskWindow& window) {
  std::vector<std::string> all;
  for (const SequencedTask& task : window.tasks) all.push_back(task.name);
  return all;
}

class TaskWindowsTest : public testing::Test, protected TempDir {
 protected:
  /// The windows around tasks whose name begins with "x".
  TaskWindows windows(const std::vector<NamedRow>& rows, const WindowLimits& limits) {
    std::string text = "Name,Type,Accelerator Core,Stream ID,Start Time(us),Duration(us)\n";
    for (const NamedRow& row : rows) {
      text += fmt::format("{},{},AI_CORE,{},{},1\n", row.name, row.name, row.stream,
                          row.start < 0 ? "N/A" : std::to_string(row.start));
    }
    const std::string path = write("t.csv", text);
    profile_ = std::make_unique<IngestResult>(ingest_files(
        {path}, [](const std::string&) {}, [] { return false; }));
    return windows_around(
        path, profile_->hot_spots,
        [](const DeviceTask& task, const HotOperator&) { return task.name.starts_with("x"); },
        [] { return false; }, limits);
  }

 private:
  std::unique_ptr<IngestResult> profile_;  // the windows point into it
};

TEST_F(TaskWindowsTest, HaveSoManyTasksBeforeAndBehind) {
  const TaskWindows found =
      windows({{"a", 1}, {"b", 2}, {"c", 3}, {"x", 4}, {"d", 5}, {"e", 6}, {"f", 7}}, {.reach = 2});
  ASSERT_THAT(found.windows, SizeIs(1));
  EXPECT_THAT(names_of(found.windows[0]), ElementsAre("b", "c", "x", "d", "e"));
  EXPECT_EQ(found.windows[0].centre, 2U);
  EXPECT_EQ(found.windows[0].tasks[2].line, 5);  // after a header and three rows
  EXPECT_EQ(found.windows[0].tasks[2].op->type, "x");
}

TEST_F(TaskWindowsTest, SortByStartAndKeepToOneStream) {
  const TaskWindows found =
      windows({{"x", 40}, {"other", 35, 1}, {"b", 30}, {"d", 50}, {"a", 20}}, {.reach = 2});
  ASSERT_THAT(found.windows, SizeIs(1));
  EXPECT_THAT(names_of(found.windows[0]), ElementsAre("a", "b", "x", "d"));
  EXPECT_EQ(found.windows[0].stream, "0");
}

TEST_F(TaskWindowsTest, AreAroundTheFirstCentres) {
  const TaskWindows found = windows({{"x1", 1}, {"a", 2}, {"x2", 3}, {"b", 4}, {"x3", 5}, {"c", 6}},
                                    {.windows = 2, .reach = 1});
  ASSERT_THAT(found.windows, SizeIs(2));
  EXPECT_THAT(names_of(found.windows[0]), ElementsAre("x1", "a"));
  EXPECT_EQ(found.windows[0].centre, 0U);
  EXPECT_THAT(names_of(found.windows[1]), ElementsAre("a", "x2", "b"));
}

// Two tasks are buffered for sorting. When 20 arrives, 10 leaves the buffer and 20 and 30 stay.
// Then 5 is late and 25 is not.
TEST_F(TaskWindowsTest, CountWhatComesTooLateToBeSorted) {
  const TaskWindows found =
      windows({{"a", 30}, {"b", 10}, {"x", 20}, {"late", 5}, {"c", 25}}, {.sorted = 2});
  EXPECT_EQ(found.late, 1);
  ASSERT_THAT(found.windows, SizeIs(1));
  EXPECT_THAT(names_of(found.windows[0]), ElementsAre("b", "x", "c", "a"));
}

TEST_F(TaskWindowsTest, CountTasksWithoutAStart) {
  const TaskWindows found = windows({{"a", -1}, {"x", 4}, {"x", -1}}, {});
  EXPECT_EQ(found.without_start, 2);
  EXPECT_THAT(found.windows, SizeIs(1));
}

// Communication is not counted among the operators, so no window contains it.
TEST_F(TaskWindowsTest, HaveNoCommunication) {
  const TaskWindows found = windows({{"hcom_allReduce", 3}, {"x", 4}}, {});
  ASSERT_THAT(found.windows, SizeIs(1));
  EXPECT_THAT(names_of(found.windows[0]), ElementsAre("x"));
}

TEST_F(TaskWindowsTest, NeedATableOfTasks) {
  const HotSpots nothing;
  const std::string path = write("n.csv", "a,b\n1,2\n");
  const auto windows_of = [&] {
    windows_around(
        path, nothing, [](const DeviceTask&, const HotOperator&) { return true; },
        [] { return false; });
  };
  EXPECT_THAT(windows_of, testing::ThrowsMessage<Error>(HasSubstr("n.csv: no table of tasks")));
}

}  // namespace
}  // namespace opbench
