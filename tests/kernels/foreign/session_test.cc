#include "kernels/foreign/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "kernels/call_clock.h"
#include "tensor/error.h"
#include "tensor/parallel.h"
#include "tests/support/source_tree.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

Guest small_guest(std::vector<std::string> words = {}) {
  words.insert(words.begin(), {"python3", source_file("tests/kernels/foreign/small_guest.py")});
  return Guest(words, "small", 30);
}

Problem relu(Dims shape) {
  const Op& op = find_op("relu");
  return make_problem(op, {describe(DType::fp32, std::move(shape))}, Attrs(op.attrs));
}

/// Calls a kernel of the guest on {-1, 2, 3}; the result is poisoned before.
struct Calls {
  explicit Calls(const std::vector<std::string>& words = {}) : guest(small_guest(words)) {}

  Guest guest;
  std::vector<float> x = {-1, 2, 3}, y = {9, 9, 9};

  void call(const std::string& kernel, bool is_expression = false) {
    const auto& all = guest.description().kernels;
    std::size_t index = 0;
    while (all.at(index).name != kernel) ++index;
    y = {9, 9, 9};
    with_threads(1, [&] {
      Session session(guest, relu({3}), {{{"kernel", index}}, is_expression});
      const std::vector<const void*> inputs = {x.data()};
      const std::vector<void*> outputs = {y.data()};
      session.call({inputs, outputs});
      note = session.note();
    });
  }
  std::string note;
};

}  // namespace

TEST(Session, ComputesInMemoryOfItsOwn) {
  Calls calls;
  calls.call("right");
  EXPECT_THAT(calls.y, ElementsAre(0, 2, 3));
  EXPECT_EQ(calls.note, "by struct");
  EXPECT_EQ(calls.guest.memory().bytes() % 4096, 0);
}

TEST(Session, AnElementThatIsNotWrittenKeepsItsValue) {
  Calls calls;
  calls.call("skips");
  EXPECT_THAT(calls.y, ElementsAre(9, 9, 9));
}

// Its guest is part of opbench. The shared memory was zero.
TEST(Session, TheOutputsOfAnExpressionAreNotCopiedBefore) {
  Calls calls;
  calls.call("skips", true);
  EXPECT_THAT(calls.y, ElementsAre(0, 0, 0));
  EXPECT_NO_THROW(calls.call("changes_input", true));
}

TEST(Session, WritesElsewhereAreErrors) {
  Calls calls;
  EXPECT_THAT([&] { calls.call("changes_input"); },
              ThrowsMessage<Error>(HasSubstr("it changed its input self")));
  EXPECT_THAT([&] { calls.call("writes_beyond"); },
              ThrowsMessage<Error>(HasSubstr("it wrote beyond the bounds of result")));
  EXPECT_THAT(calls.x, ElementsAre(-1, 2, 3));
}

TEST(Session, ARefusalIsNoError) {
  Calls calls;
  EXPECT_THAT([&] { calls.call("refuses"); }, ThrowsMessage<RefusedValues>("not today"));
}

TEST(Session, ACrashEndsOneCall) {
  Calls calls;
  EXPECT_THAT([&] { calls.call("dies"); }, ThrowsMessage<Error>(HasSubstr("signal 6")));
  calls.call("right");
  EXPECT_THAT(calls.y, ElementsAre(0, 2, 3));
}

// It sleeps 20 ms, and states 1 us.
TEST(Session, AWrongClockDoesNotCount) {
  Calls calls;
  const CallClock clock;
  calls.call("lies");
  EXPECT_GT(clock.seconds(), 0.02);
}

// It sleeps 100 ms in the first `fetch` after a call.
TEST(Session, WorkThatACallLeavesToFetchCounts) {
  Calls calls(std::vector<std::string>{"device"});
  const CallClock clock;
  calls.call("starts");
  EXPECT_GT(clock.seconds(), 0.05);
  EXPECT_THAT(calls.note, HasSubstr("does not wait for its work, which counts"));
  calls.call("right");
  EXPECT_EQ(calls.note, "by struct");
}

// Copies and messages take longer than the sum of three numbers.
TEST(Session, CopiesDoNotCount) {
  Calls calls;
  const OutsideSeconds before = outside_seconds();
  calls.call("right");
  EXPECT_GT(outside_seconds().uncounted, before.uncounted);
  EXPECT_EQ(outside_seconds().launch, before.launch);
}

}  // namespace opbench
