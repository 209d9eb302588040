#include "workers/dispatch.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>
#include <thread>

#include "tensor/error.h"
#include "text/packed.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Ranks that are threads of this process.
struct Room {
  explicit Room(int size) : boxes(static_cast<std::size_t>(size)) {}

  std::mutex mutex;
  std::vector<std::deque<Letter>> boxes;
  int dead = -1;
  std::atomic<int> unit_letters = 0;  ///< messages that hand units out
};

class InMemory : public Transport {
 public:
  InMemory(Room& room, int rank) : room_(room), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(room_.boxes.size()); }
  int machine_size() const override { return size(); }
  std::string machine(int) const override { return "here"; }
  void send(int to, std::string text) override {
    room_.unit_letters += text.front() == static_cast<char>(LetterKind::units);
    const std::lock_guard lock(room_.mutex);
    room_.boxes[static_cast<std::size_t>(to)].push_back({rank_, std::move(text)});
  }
  bool is_sent() override { return true; }
  std::optional<Letter> receive() override {
    const std::lock_guard lock(room_.mutex);
    auto& box = room_.boxes[static_cast<std::size_t>(rank_)];
    if (box.empty()) return std::nullopt;
    Letter letter = std::move(box.front());
    box.pop_front();
    return letter;
  }
  bool is_alive(int rank) override { return rank != room_.dead; }
  void finish() override {}
  void abort(int) override {}

 private:
  Room& room_;
  int rank_;
};

std::string twice(std::string_view unit) { return std::string(unit) + std::string(unit); }

/// Rank 0 dispatches in this thread, the others serve in their own threads.
class Dispatch : public testing::TestWithParam<int> {
 protected:
  void start(const UnitWork& work, const std::string& plan = "plan") {
    room_ = std::make_unique<Room>(GetParam());
    if (GetParam() > 1) first_ = Ranks(std::make_unique<InMemory>(*room_, 0));
    for (int rank = 1; rank < GetParam(); ++rank) {
      others_.emplace_back([this, rank, work, plan] {
        Ranks ranks(std::make_unique<InMemory>(*room_, rank));
        while (serve(ranks, plan, work)) {
        }
        ranks.finish(0, "");
      });
    }
  }
  void TearDown() override { first_.finish(0, ""); }

  std::unique_ptr<Room> room_;
  Ranks first_;
  std::vector<std::jthread> others_;
};

TEST_P(Dispatch, DoesEveryUnitOnceAndThoseThatResultsAdd) {
  start(twice);
  UnitQueue units;
  for (int i = 0; i < 500; ++i) units.add(std::to_string(i), i % 7);
  std::map<std::size_t, std::string> results;
  DispatchHooks hooks;
  hooks.done = [&](std::size_t unit, const std::string& result) {
    EXPECT_TRUE(results.emplace(unit, result).second) << unit;
    if (unit < 10) units.add(fmt::format("more{}", unit), 0.5);
  };
  const DispatchState state = dispatch(first_, "plan", units, twice, hooks);
  EXPECT_EQ(results.size(), 510u);
  EXPECT_EQ(results[7], "77");
  EXPECT_EQ(state.done, 510u);
  EXPECT_EQ(state.added, 510u);
  std::string last;
  for (std::size_t i = 500; i < 510; ++i) last += results[i].substr(0, 4);
  EXPECT_EQ(last, "moremoremoremoremoremoremoremoremoremore");
  dispatch(first_, "plan", units, twice, hooks);  // ends even if nothing is left
}

TEST_P(Dispatch, HandsOutNothingMoreOnceStopped) {
  const UnitWork slowly = [](std::string_view unit) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return twice(unit);
  };
  start(slowly);
  UnitQueue units;
  for (int i = 0; i < 1000; ++i) units.add("unit", 1);
  std::size_t done = 0;
  DispatchHooks hooks;
  hooks.done = [&](std::size_t, const std::string&) { ++done; };
  hooks.stop = [&] { return done >= 3; };
  EXPECT_LT(dispatch(first_, "plan", units, slowly, hooks).done, 100u);
}

TEST_P(Dispatch, EndsWithTheErrorOfAUnit) {
  const UnitWork fail = [](std::string_view unit) -> std::string {
    throw Error(fmt::format("unit {} is bad", unit));
  };
  start(fail);
  UnitQueue units;
  units.add("a", 1);
  try {
    dispatch(first_, "plan", units, fail, {});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("unit a is bad"));
  }
}

// Units that turn out to be tiny are sent in groups, whatever their expected time.
TEST_P(Dispatch, GroupsUnitsByWhatTheyTake) {
  start(twice);
  if (GetParam() == 1) return;  // one rank gets no messages
  for (const double expected : {0.0, 1e-6, 1.0, 1e6}) {
    UnitQueue units;
    for (int i = 0; i < 5000; ++i) units.add("unit", expected);
    room_->unit_letters = 0;
    EXPECT_EQ(dispatch(first_, "plan", units, twice, {}).done, 5000u);
    EXPECT_LT(room_->unit_letters, 500) << expected;
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Dispatch, testing::Values(1, 2, 4));

TEST(DispatchRefuses, RanksThatPlannedSomethingElse) {
  Room room(2);
  Ranks first(std::make_unique<InMemory>(room, 0)), second(std::make_unique<InMemory>(room, 1));
  second.send(0, LetterKind::ready, "another plan");
  UnitQueue units;
  units.add("a", 1);
  EXPECT_THROW(dispatch(first, "plan", units, twice, {}), RunError);
}

TEST(DispatchRefuses, ARankThatIsLost) {
  Room room(2);
  room.dead = 1;
  Ranks first(std::make_unique<InMemory>(room, 0));
  UnitQueue units;
  try {
    dispatch(first, "plan", units, twice, {});
    FAIL() << "no error";
  } catch (const RunError& error) {
    EXPECT_STREQ(error.what(),
                 "rank 1 on here is gone: its process has ended before its work was done");
  }
}

TEST(DispatchRefuses, ARankThatLeavesBeforeItsWork) {
  Room room(2);
  Ranks first(std::make_unique<InMemory>(room, 0)), second(std::make_unique<InMemory>(room, 1));
  Packer packer;
  packer.add(2);
  packer.add(std::string("cannot open npu.h5"));
  second.send(0, LetterKind::leave, packer.take());
  UnitQueue units;
  try {
    dispatch(first, "plan", units, twice, {});
    FAIL() << "no error";
  } catch (const RunError& error) {
    EXPECT_STREQ(error.what(), "rank 1 on here has left: cannot open npu.h5");
  }
}

TEST(UnitQueue, TakesTheLargestFirstAndEqualOnesInTheirOrder) {
  UnitQueue units;
  for (const double seconds : {1.0, 3.0, 2.0, 3.0}) units.add("", seconds);
  EXPECT_DOUBLE_EQ(units.seconds(), 9);
  std::vector<std::size_t> order;
  while (!units.is_empty()) order.push_back(units.take().number);
  EXPECT_THAT(order, ElementsAre(1, 3, 2, 0));
}

TEST(RanksAlone, ShareNothing) {
  Ranks& ranks = Ranks::alone();
  EXPECT_TRUE(ranks.is_first() && ranks.is_alone());
  EXPECT_EQ(ranks.finish(3, ""), 3);
}

}  // namespace
}  // namespace opbench
