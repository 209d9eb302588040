#include "harness/run/memory.h"

#include <gmock/gmock.h>

#include "tensor/error.h"

namespace opbench {

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
