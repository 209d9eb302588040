#include <gtest/gtest.h>

#include "text/fitted.h"

namespace opbench {

TEST(ByteSize, TakesTheUnitThatSuits) {
  EXPECT_EQ(byte_size_text(0), "0 bytes");
  EXPECT_EQ(byte_size_text(1023), "1023 bytes");
  EXPECT_EQ(byte_size_text(48 * 1024.0), "48 KiB");
  EXPECT_EQ(byte_size_text(1.5 * (1 << 20)), "1.5 MiB");
  EXPECT_EQ(byte_size_text(1023.99 * (1 << 20)), "1 GiB") << "not 1024 MiB";
  EXPECT_EQ(byte_size_text(12288.0 * (1 << 30)), "12 TiB");
  EXPECT_EQ(byte_size_text(0x1p64), "16 EiB");
}

}  // namespace opbench
