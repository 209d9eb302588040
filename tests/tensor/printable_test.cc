#include "tensor/printable.h"

#include <gtest/gtest.h>

namespace opbench {

TEST(Printable, ControlCharactersAreEscaped) {
  EXPECT_EQ(printable("a\nb\r\x1b[31m\x7f"), "a\\x0ab\\x0d\\x1b[31m\\x7f");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(Printable, AllElseStays) {
  EXPECT_EQ(printable("conv1 größe \\ ~"), "conv1 größe \\ ~");
  EXPECT_EQ(printable(""), "");
}

}  // namespace opbench
