// tools/check-against-base, where it refuses before it builds anything.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/support/program.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {

namespace fs = std::filesystem;

class CheckAgainstBase : public testing::Test, protected TempDir {
 protected:
  CheckAgainstBase() {
    fs::create_directory(path("tools"));
    fs::copy_file(source_file("tools/check-against-base"), path("tools/check-against-base"));
  }
  Outcome run(const std::string& args) const {
    return shell("tools/check-against-base " + args, {.environment = {}, .directory = directory()});
  }
};

TEST_F(CheckAgainstBase, AFlagIsNoRevision) {
  for (const std::string flag : {"--fork-point", "-h", "--cases"}) {
    const Outcome ran = run(flag + " origin/main");
    EXPECT_EQ(ran.code, 2);
    EXPECT_EQ(ran.err, "check-against-base: '" + flag +
                           "' comes where REVISION does; it must be a branch, tag or commit, and "
                           "flags follow it\n");
  }
}

TEST_F(CheckAgainstBase, WithoutArgumentsItSaysHowItIsUsed) {
  const Outcome ran = run("");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, testing::HasSubstr("REVISION [FLAGS OF opbench check]"));
}

}  // namespace opbench
