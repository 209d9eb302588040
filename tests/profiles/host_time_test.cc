#include "profiles/host_time.h"

#include <gmock/gmock.h>

#include "tests/profiles/profiles.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr HostState kWorks = HostState::works, kWaits = HostState::waits;

// The host works from 0 to 40 and from 70 to 80, but waits from 10 to 30. The device is busy from
// 20 to 50 and from 75 to 90; the step ends at 100.
TEST(HostTime, HasFourQuadrants) {
  HostTime time;
  const auto idle = add_host_time(
      std::vector<HostSpan>{{0, 40, 1, kWorks}, {10, 30, 1, kWaits}, {70, 80, 2, kWorks}},
      {{{75, 90}, {20, 50}}}, {{0, 100}}, time);
  EXPECT_THAT(idle, ElementsAre(ElementsAre(Pair(0, 20), Pair(50, 75), Pair(90, 100))));
  EXPECT_EQ(time.both_ns, 10 + 5);
  EXPECT_EQ(time.host_alone_ns, 10 + 5);
  EXPECT_EQ(time.device_alone_ns, 20 + 10);
  EXPECT_EQ(time.neither_ns, 10 + 20 + 10);
  EXPECT_EQ(time.waiting_ns, 10);
  EXPECT_EQ(time.share(time.neither_ns), 0.4);
}

// A wait on one thread does not hide the work of another, and compiling has precedence.
TEST(HostTime, OfSeveralThreadsIsThatOfTheBusiest) {
  HostTime time;
  add_host_time(std::vector<HostSpan>{{0, 50, 1, kWaits},
                                      {20, 30, 2, kWorks},
                                      {25, 35, 3, HostState::compiles},
                                      {60, 70, 2, HostState::loads}},
                {{}, {{0, 5}}}, {{0, 100}}, time);
  EXPECT_EQ(time.compiling_ns, 20);  // on two devices
  EXPECT_EQ(time.host_alone_ns, 2 * 15);
  EXPECT_EQ(time.loading_ns, 2 * 10);
  EXPECT_EQ(time.waiting_ns, 2 * 35 - 5);
  EXPECT_EQ(time.compile_calls, 1);
  EXPECT_EQ(time.whole_ns(), 200);
}

// Without steps, the time of a device is that from its first to its last task.
TEST(HostTime, WithoutStepsIsThatOfTheDevice) {
  HostTime time;
  add_host_time(std::vector<HostSpan>{{0, 100, 1, kWorks}}, {{{10, 20}, {40, 50}}, {}}, {}, time);
  EXPECT_EQ(time.whole_ns(), 40);
  EXPECT_EQ(time.host_alone_ns, 20);
  EXPECT_EQ(HostTime().share(1), 0);
}

TEST(IdleClock, SumsIdleTimeOfDevices) {
  const IdleClock clock({{{10, 20}, {30, 40}}, {{15, 35}}, {}});
  EXPECT_EQ(clock.between_ns(0, 100), 40);
  EXPECT_EQ(clock.between_ns(12, 18), 6 + 3);
  EXPECT_EQ(clock.between_ns(20, 30), 10);
  EXPECT_EQ(clock.between_ns(50, 60), 0);
}

// The quadrants divide the same step: their idle time is that of the device to a nanosecond for
// each of 200 tasks.
TEST(HostTime, OfTheSampleDividesItsStep) {
  const IngestResult profile = ingest_samples({"traces/ascend_pytorch_trace_view_alexnet.json.gz"});
  const HostTime& time = profile.trace.host;
  const TraceStep& step = profile.trace.steps.at(0);
  EXPECT_EQ(time.whole_ns() * 1000, step.duration_ps);
  const BusyTime& busy = step.busy;
  EXPECT_NEAR(double(time.both_ns + time.device_alone_ns),
              double(busy.computing_ps + busy.communication_ps + busy.copies_ps) / 1e3, 400);
  EXPECT_EQ(time.compile_calls, 19);
}

}  // namespace
}  // namespace opbench
