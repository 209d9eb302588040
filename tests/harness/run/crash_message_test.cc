#include "harness/run/crash_message.h"

#include <gtest/gtest.h>

#include <csignal>
#include <string>

namespace opbench {
namespace {

// Crashes like in run_program. A sanitizer's handlers are kept in a test.
void crash(int number, const std::string& what) {
  std::signal(number, SIG_DFL);
  report_crashes();
  set_what_runs("variant 'before' of relu[8,fp32,ND]");
  set_what_runs(what);
  std::raise(number);
}

}  // namespace

TEST(CrashMessage, NamesTheVariantAndEndsAsBefore) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::string what = "variant 'mine' of softplus[8x64,fp32,ND]";
  EXPECT_EXIT(
      crash(SIGSEGV, what), testing::KilledBySignal(SIGSEGV),
      "^[^ ]*: variant 'mine' of softplus\\[8x64,fp32,ND\\] crashed \\(SIGSEGV\\); leave it "
      "out with --variant");
  EXPECT_EXIT(crash(SIGABRT, what), testing::KilledBySignal(SIGABRT), "crashed \\(SIGABRT\\)");
  EXPECT_EXIT(crash(SIGFPE, ""), testing::KilledBySignal(SIGFPE), "^(qemu: .*)?$") << "nothing ran";
}

}  // namespace opbench
