// Tests `attribute_time` with spans by hand, in nanoseconds: 1 ns is 1000 ps.
#include <gmock/gmock.h>

#include "profiles/timeline.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr std::int64_t kNs = 1000;  // in picoseconds
constexpr std::int64_t kStart = 1'736'408'883'704'643'212;

DeviceSpan device_span(SpanKind kind, std::int64_t start, std::int64_t length,
                       std::uint32_t device = 0) {
  DeviceSpan one;
  one.kind = kind;
  one.start_ns = kStart + start;
  one.duration_ps = length * kNs;
  one.device = device;
  return one;
}

DeviceSpan computing(std::int64_t start, std::int64_t length, std::uint32_t device = 0) {
  return device_span(SpanKind::computing, start, length, device);
}
DeviceSpan communication(std::int64_t start, std::int64_t length) {
  return device_span(SpanKind::communication, start, length);
}
DeviceSpan copy(std::int64_t start, std::int64_t length) {
  return device_span(SpanKind::copy, start, length);
}

/// The name of a step, its begin and its duration.
struct Window {
  std::int64_t start = 0, length = 0;
};

struct Attributed {
  TraceProfile profile;
  std::vector<TraceStep> steps;
};

Attributed attributed(std::vector<DeviceSpan> spans, const std::vector<Window>& windows = {},
                      std::size_t devices = 1) {
  Attributed result;
  std::vector<std::int64_t> starts;
  for (const Window& window : windows) {
    TraceStep& step = result.steps.emplace_back();
    step.duration_ps = window.length * kNs;
    starts.push_back(kStart + window.start);
  }
  attribute_time(spans, result.steps, starts, devices, result.profile);
  return result;
}

/// Times in nanoseconds: computing, communication alone, copies alone, communication that overlaps.
std::vector<std::int64_t> in_ns(const BusyTime& busy) {
  return {busy.computing_ps / kNs, busy.communication_ps / kNs, busy.copies_ps / kNs,
          busy.overlapped_ps / kNs};
}

// 0-10 and 5-12 amount to 12, 20-25 amounts to 5.
TEST(AttributeTime, CountsOverlapOnce) {
  const Attributed all = attributed({computing(20, 5), computing(0, 10), computing(5, 7)});
  EXPECT_THAT(in_ns(all.profile.busy), ElementsAre(17, 0, 0, 0));
  EXPECT_EQ(all.profile.span_ps, 25 * kNs);
  EXPECT_EQ(all.profile.spans, 1);
}

// Computing is 0-10, communication 6-16 (4 overlapped, 6 alone), a copy 8-20 (4 alone, from 16 on).
TEST(AttributeTime, GivesTimeToTheFirstOfItsKinds) {
  const Attributed all = attributed({computing(0, 10), communication(6, 10), copy(8, 12)});
  EXPECT_THAT(in_ns(all.profile.busy), ElementsAre(10, 6, 4, 4));
}

TEST(AttributeTime, SkipsWhatIsCovered) {
  EXPECT_THAT(in_ns(attributed({computing(0, 10), computing(2, 3)}).profile.busy),
              ElementsAre(10, 0, 0, 0));
  EXPECT_THAT(in_ns(attributed({computing(0, 10), copy(2, 3)}).profile.busy),
              ElementsAre(10, 0, 0, 0));
}

// Two devices run in the same 10 ns. Their time is 20 ns, and each has its own extent.
TEST(AttributeTime, AddsUpDevices) {
  const Attributed all = attributed({computing(0, 10), computing(0, 10, 1)}, {}, 2);
  EXPECT_EQ(all.profile.busy.computing_ps, 20 * kNs);
  EXPECT_EQ(all.profile.span_ps, 20 * kNs);
  EXPECT_EQ(all.profile.spans, 2);
}

// Steps are 0-10 and 10-30. The span 8-25 has 2 in the first and 15 in the second step; 30-35 is
// outside both.
TEST(AttributeTime, CutsSpansAtSteps) {
  const Attributed all =
      attributed({computing(8, 17), computing(30, 5), communication(24, 4)}, {{0, 10}, {10, 20}});
  ASSERT_THAT(all.steps, SizeIs(2));
  EXPECT_THAT(in_ns(all.steps[0].busy), ElementsAre(2, 0, 0, 0));
  EXPECT_THAT(in_ns(all.steps[1].busy), ElementsAre(15, 3, 0, 1));
  EXPECT_THAT(in_ns(all.profile.busy), ElementsAre(22, 3, 0, 1));
}

// Time in steps belongs to the operator of the host and to the task: 2 + 15 = 17. Communication
// adds no time to them.
TEST(AttributeTime, GivesStepTimeToOperators) {
  HotOperator task;
  TraceProfile profile;
  profile.operators().resize(1);
  std::vector<DeviceSpan> spans = {computing(8, 17), computing(30, 5), communication(0, 5)};
  for (DeviceSpan& one : spans) {
    one.task = &task;
    one.host = 0;
  }
  std::vector<TraceStep> steps(2);
  steps[0].duration_ps = 10 * kNs;
  steps[1].duration_ps = 20 * kNs;
  attribute_time(spans, steps, {kStart, kStart + 10}, 1, profile);
  EXPECT_EQ(task.step_ps, 17 * kNs);
  EXPECT_EQ(profile.operators()[0].step_ps, 17 * kNs);
}

// A time that is a year away is damaged, and its distance exceeds the range of picoseconds.
TEST(AttributeTime, LeavesOutWhatIsFarAway) {
  constexpr std::int64_t kYear = std::int64_t{1'000'000'000} * 3600 * 24 * 365;
  const Attributed all = attributed({computing(0, 10), computing(20, 10), computing(kYear, 10)});
  EXPECT_THAT(in_ns(all.profile.busy), ElementsAre(20, 0, 0, 0));
  EXPECT_EQ(all.profile.span_ps, 30 * kNs);
}

TEST(AttributeTime, AddsToTracesThatWereRead) {
  TraceProfile profile;
  std::vector<DeviceSpan> first = {computing(0, 10), communication(5, 10)};
  std::vector<DeviceSpan> second = {computing(0, 4), communication(2, 6)};
  attribute_time(first, {}, {}, 1, profile);
  attribute_time(second, {}, {}, 1, profile);
  EXPECT_THAT(in_ns(profile.busy), ElementsAre(14, 5 + 4, 0, 5 + 2));
  EXPECT_EQ(profile.spans, 2);
}

}  // namespace
}  // namespace opbench
