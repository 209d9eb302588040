#include "tensor/error.h"

#include <gtest/gtest.h>

namespace opbench {

// A message is printed as it is, and may hold what somebody else wrote into a file.
TEST(Error, ItsMessageIsOnePrintableLine) {
  EXPECT_STREQ(Error("cases.yaml: no operator a\n\x1b[31mb").what(),
               "cases.yaml: no operator a\\x0a\\x1b[31mb");
  EXPECT_STREQ(RunError("disk\tfull\r").what(), Error("disk\tfull\r").what());
}

}  // namespace opbench
