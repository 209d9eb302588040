// Invented machines: a directory with the relevant files of /proc and /sys.
#include "harness/run/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensor/error.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

class AvailableMemory : public testing::Test, protected TempDir {
 protected:
  AvailableMemory() {
    write("proc/meminfo", "MemTotal: 8192 kB\nMemFree: 1024 kB\nMemAvailable: 4096 kB\n");
  }
  std::size_t bytes() const { return available_memory(directory()); }
};

}  // namespace

TEST_F(AvailableMemory, IsTheMachinesWithoutGroups) { EXPECT_EQ(bytes(), 4 * kMiB); }

TEST_F(AvailableMemory, IsNotEndlessWithoutProc) {
  const TempDir nothing;
  EXPECT_GT(available_memory(nothing.directory()), 0u);
  EXPECT_LT(available_memory(nothing.directory()), std::size_t{1} << 50);
}

// 3 MiB are allowed and 2 used, of which 1 is page cache: 2 are left.
TEST_F(AvailableMemory, IsWhatALimitLeaves) {
  write("proc/self/cgroup", "0::/job/step\n");
  write("sys/fs/cgroup/job/step/memory.max", "3145728\n");
  write("sys/fs/cgroup/job/step/memory.current", "2097152\n");
  write("sys/fs/cgroup/job/step/memory.stat", "anon 1048576\ninactive_file 1048576\n");
  EXPECT_EQ(bytes(), 2 * kMiB);
  write("sys/fs/cgroup/job/step/memory.max", "max\n");
  EXPECT_EQ(bytes(), 4 * kMiB);
}

TEST_F(AvailableMemory, IsWhatTheTightestOfAllLimitsLeaves) {
  write("proc/self/cgroup", "0::/job/step\n");
  write("sys/fs/cgroup/job/step/memory.max", "3145728\n");
  write("sys/fs/cgroup/job/memory.max", "1048576\n");
  EXPECT_EQ(bytes(), kMiB);
  write("sys/fs/cgroup/job/memory.current", "2097152\n");  // exceeds a lowered limit
  EXPECT_EQ(bytes(), 0u);
}

TEST_F(AvailableMemory, KnowsTheFirstVersionOfGroups) {
  write("proc/self/cgroup", "5:cpu,cpuacct:/\n4:hugetlb,memory:/job\n0::/\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "3145728\n");
  write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "2097152\n");
  write("sys/fs/cgroup/memory/job/memory.stat", "inactive_file 5\ntotal_inactive_file 1048576\n");
  EXPECT_EQ(bytes(), 2 * kMiB);
}

// A container's own group; its process has the path that is valid outside.
TEST_F(AvailableMemory, FindsTheLimitOfAContainer) {
  write("proc/self/cgroup", "4:memory:/docker/1234\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "1048576\n");
  EXPECT_EQ(bytes(), kMiB);
}

TEST(Memory, WhatIsFreeIsGranted) { EXPECT_NO_THROW(require_memory(1, "")); }

// 2^62 bytes are 4 EiB.
TEST(Memory, WhatIsNotFreeIsRefusedWithBothNumbersAndAdvice) {
  try {
    require_memory(std::size_t{1} << 62, "take less");
    FAIL() << "granted";
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), testing::MatchesRegex("needs 4 EiB of memory, .*iB are "
                                                    "free; take less"));
  }
}

}  // namespace opbench
