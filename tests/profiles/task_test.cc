#include "profiles/task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace opbench {
namespace {

std::int64_t units(std::string_view text, int scale) {
  const auto value = parse_decimal(text, scale);
  return value ? value->units : INT64_MIN;
}

TEST(ParseDecimal, KeepsAllDigits) {
  // 2^53 / 1000 is 9.0e12. A double in us holds this start time only to 0.25 us.
  EXPECT_EQ(units("1736408883704643.212", 3), 1736408883704643212);
  EXPECT_EQ(units("1764246877073569640", 0), 1764246877073569640);
  EXPECT_EQ(units("833.420000", 6), 833420000);
  EXPECT_EQ(units("7", 6), 7000000);
  EXPECT_EQ(units("-0.5", 1), -5);
  EXPECT_EQ(parse_decimal("833.420000", 6)->digits, 6);
}

TEST(ParseDecimal, RoundsWhatIsFinerAndReadsExponents) {
  EXPECT_EQ(units("8873.756000000001", 6), 8873756000);
  EXPECT_EQ(units("0.00049", 3), 0);
  EXPECT_EQ(units("0.0005", 3), 1);
  EXPECT_EQ(units("1.5e-05", 6), 15);
}

TEST(ParseDecimal, RefusesWhatIsNoNumber) {
  for (const char* text : {"", "N/A", ".", "-", "1.2.3", "1,5", "nan", "inf", "0x10", "1e400",
                           "99999999999999999999", "10000000000000000"}) {
    EXPECT_FALSE(parse_decimal(text, 6)) << text;
  }
}

}  // namespace

// Names in the spelling of PyTorch's traces, nsys and nvprof.
TEST(KernelName, LeavesOutTheTypeAndTheArguments) {
  EXPECT_EQ(short_kernel_name("volta_sgemm_128x64_nn"), "volta_sgemm_128x64_nn");
  EXPECT_EQ(short_kernel_name("void at::native::vectorized_elementwise_kernel<4, at::native::"
                              "AddFunctor<float>, at::detail::Array<char*, 3> >(int, float)"),
            "at::native::vectorized_elementwise_kernel");
  EXPECT_EQ(short_kernel_name("void (anonymous namespace)::softmax_warp_forward<float, 10>(int)"),
            "(anonymous namespace)::softmax_warp_forward");
  EXPECT_EQ(short_kernel_name("std::enable_if<!(false), void>::type internal::gemvx::kernel<int, "
                              "float>(cublasGemvParams)"),
            "internal::gemvx::kernel");
  EXPECT_EQ(short_kernel_name("void f(int, float)"), "f");
}

// Profilers cut long names.
TEST(KernelName, TakesWhatIsLeftOfACutName) {
  EXPECT_EQ(short_kernel_name("void at::native::reduce_kernel<512, 1, at::nat"),
            "at::native::reduce_kernel");
  EXPECT_EQ(short_kernel_name(""), "");
  EXPECT_EQ(short_kernel_name("<a>"), "<a>");
  EXPECT_EQ(short_kernel_name("> >"), "> >");
  EXPECT_EQ(short_kernel_name("(x)"), "(x)");
}

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

// 1.7e18 ns is a time of day. A double cannot represent it to the nanosecond.
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
