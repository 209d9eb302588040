// libgomp prints the settings that it has read, once for each start of the program.
#include "opbench/waiting_threads.h"

#include <gmock/gmock.h>

#include "kernels/kernel.h"
#include "tests/support/program.h"

namespace opbench {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string shown_by_libgomp(std::map<std::string, std::string> environment) {
  environment["OMP_DISPLAY_ENV"] = "verbose";
  const Outcome outcome =
      run_program({"--version"}, {.environment = std::move(environment), .directory = {}});
  EXPECT_EQ(outcome.code, 0);
  return outcome.err;
}

}  // namespace

TEST(WaitingThreads, SpinForShortUnlessTheUserSaysOtherwise) {
  if (vendor_version().empty()) GTEST_SKIP() << "without oneDNN";
  EXPECT_THAT(shown_by_libgomp({}), HasSubstr("GOMP_SPINCOUNT = '1000'"));
  EXPECT_THAT(shown_by_libgomp({{"OMP_WAIT_POLICY", "active"}}),
              Not(HasSubstr("GOMP_SPINCOUNT = '1000'")));
  EXPECT_THAT(shown_by_libgomp({{"GOMP_SPINCOUNT", "77"}}), HasSubstr("GOMP_SPINCOUNT = '77'"));
}

}  // namespace opbench
