#include "text/program.h"

#include <gtest/gtest.h>

namespace opbench {

TEST(ProgramName, IsThatOfTheFile) {
  const std::string before = program_name();
  EXPECT_EQ(before, "opbench");
  set_program_name("/usr/bin/mybench");
  EXPECT_EQ(program_name(), "mybench");
  EXPECT_EQ(with_program_name("Examples:\n  opbench run x\n  opbench report (`opbench list`); "
                              "opbench-x ../build/opbench --op opbench"),
            "Examples:\n  mybench run x\n  mybench report (`mybench list`); opbench-x "
            "../build/opbench --op opbench");
  set_program_name("a");
  EXPECT_EQ(program_name(), "a");
  set_program_name("");
  set_program_name("folder/");
  EXPECT_EQ(program_name(), "a");
  set_program_name(before);
}

}  // namespace opbench
