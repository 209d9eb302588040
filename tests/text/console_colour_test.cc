// ECMA-48, "Select graphic rendition": 31 is red, 0 ends it.
#include "text/console_colour.h"

#include <gtest/gtest.h>

namespace opbench {

TEST(ConsoleColour, OnlyWhereTheStyleHasAny) {
  EXPECT_EQ(coloured("slow", kRed, {.colour = true}), "\x1b[31mslow\x1b[0m");
  EXPECT_EQ(coloured("slow", kRed, {.colour = false}), "slow");
}

}  // namespace opbench
