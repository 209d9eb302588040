#include <gmock/gmock.h>

#include "profiles/findings.h"
#include "tests/profiles/profiles.h"

namespace opbench {
namespace {

// The trace and the profiler's own table of steps agree.
TEST(StepTime, IsKnownFromTracesAndTables) {
  for (const char* file :
       {"traces/ascend_pytorch_trace_view_alexnet.json.gz",
        "kernel_details/alexnet_level1_rank0.csv", "host_operators/step_trace_time_alexnet.csv"}) {
    SCOPED_TRACE(file);
    const std::optional<StepTime> step = step_time(ingest_samples({file}));
    ASSERT_TRUE(step);
    EXPECT_NEAR(in_us(step->computing_ps), 8873.75, 0.02);
    EXPECT_NEAR(in_us(step->communication_ps), 105991.88, 0.02);
    EXPECT_NEAR(in_us(step->communication_alone_ps), 101963.2, 0.02);
  }
  EXPECT_FALSE(step_time(ingest_samples({"op_statistic/alexnet_level1_rank0.csv"})));
}

constexpr const char* kStepHeader =
    "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us)\n";

// By hand: steps of 10 and 20 us have 12 us of computing in 30 us.
TEST(StepTime, SeveralStepsAreAveraged) {
  const std::string rows =
      "1,a,Add,AI_CORE,100,4\n1,a,Add,AI_CORE,106,4\n2,a,Add,AI_CORE,200,2\n"
      "2,a,Add,AI_CORE,218,2\n";
  EXPECT_EQ(headline(ingest_text(kStepHeader + rows)),
            "One step takes 15 us, the mean of 2: computing 40.0 %, idle 60.0 %");
}

TEST(StepTime, AProfileWithoutStepsIsTakenAsAWhole) {
  EXPECT_EQ(
      headline(ingest_text("Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"
                           "a,Add,AI_CORE,1,1\nhcom_x,hcom,HCCL,1.5,1.5\n")),
      "The profile lasts 2 us: computing 50.0 %, communication 75.0 % (partly overlapped: 50.0 "
      "% alone), idle 0.0 %");
}

TEST(StepTime, IsNotKnownWithoutStartTimes) {
  EXPECT_EQ(headline(ingest_text("Name,Type,Accelerator Core,Duration(us)\na,Add,AI_CORE,1500\n")),
            "Device time 1.5 ms in 1 task; steps are not known, so shares are of the device time");
  EXPECT_EQ(headline(ingest_text("")), "");
}

// The trace has no marks. It runs from 10 to 30 us, with 5 us of a copy alone.
TEST(StepTime, KnowsCopiesOfATraceWithoutMarks) {
  const auto event = [](const std::string& category, int start, int duration) {
    return "{\"ph\":\"X\",\"cat\":\"" + category +
           "\",\"name\":\"n\",\"pid\":1,\"tid\":1,\"ts\":" + std::to_string(start) +
           ",\"dur\":" + std::to_string(duration) + ",\"args\":{}},\n";
  };
  EXPECT_EQ(headline(ingest_text("[" + event("kernel", 10, 10) + event("gpu_memcpy", 25, 5) + "]")),
            "The profile lasts 20 us: computing 50.0 %, copies 25.0 %, idle 25.0 %");
}

}  // namespace
}  // namespace opbench
