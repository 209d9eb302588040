// tools/check-against-base on two revisions of a small git repository. Its opbench starts the one
// of tests/lab, slowed down as the revision states.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/scripted_checkout.h"

namespace opbench {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

std::string launcher(const std::string& slowdown) {
  return "#include <stdlib.h>\n#include <unistd.h>\n"
         "int main(int argc, char** argv) {\n"
         "  setenv(\"OPBENCH_TEST_SLOWDOWN\", \"" +
         slowdown + "\", 1);\n  execv(\"" + faulty_program() + "\", argv);\n  return 127;\n}\n";
}

const std::string kOneCase = "cases:\n  - {name: a, op: softplus, inputs: [[4096]]}\n";
const std::string kTwoCases = kOneCase + "  - {name: b, op: relu, inputs: [[4096]]}\n";

}  // namespace

class CheckAgainstBase : public ScriptedCheckout {
 protected:
  CheckAgainstBase() : ScriptedCheckout("check-against-base", launcher("")) {
    commit("shapes/few.yaml", kTwoCases);
  }

  Outcome run(const std::string& args, const std::string& folder = "") const {
    return sh(root() + "/tools/check-against-base " + args, folder);
  }
};

const std::string kQuickCheck = " --variant native --threads 1 --sample 2 --threshold 50 -q ";

TEST_F(CheckAgainstBase, AFlagIsNoRevision) {
  for (const std::string flag : {"--fork-point", "--cases"}) {
    const Outcome ran = run(flag + " origin/main");
    EXPECT_EQ(ran.code, 2);
    EXPECT_EQ(ran.err, "check-against-base: '" + flag +
                           "' comes where REVISION does; it must be a branch, tag or commit, and "
                           "flags follow it\n");
  }
}

TEST_F(CheckAgainstBase, SaysHowItIsUsed) {
  const Outcome bare = run("");
  EXPECT_EQ(bare.code, 2);
  EXPECT_THAT(bare.err, HasSubstr("REVISION [FLAGS OF opbench check]"));
  for (const std::string flag : {"-h", "--help"}) {
    const Outcome asked = run(flag);
    EXPECT_EQ(asked.code, 0);
    EXPECT_EQ(asked.out, bare.err);
    EXPECT_EQ(asked.err, "");
  }
  EXPECT_FALSE(fs::exists(root() + "/build"));
}

// A machine that is too noisy to judge speed may give exit code 5. Accuracy is judged in that case.
TEST_F(CheckAgainstBase, TheBranchIsSlowerThanWhereItLeftMain) {
  ASSERT_EQ(sh("git checkout -q -b topic").code, 0);
  commit("opbench.c", launcher("native=200"));
  const Outcome ran = run("main --case 'softplus[4096,fp32]'" + kQuickCheck);
  ASSERT_TRUE(ran.code == 1 || ran.code == 5) << ran.code << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr(ran.code == 1 ? "1 SLOWER" : "noisy"));
  EXPECT_EQ(read("built"), root() + "\n" + root() + "/build/base\n");
  EXPECT_EQ(sh("git -C build/base rev-parse HEAD").out, revision("main") + "\n");
  EXPECT_EQ(sh("git status --porcelain").out, "");

  // Main has a new commit. The base is the revision where the branch left main.
  ASSERT_EQ(sh("git checkout -q main").code, 0);
  commit("NEWS", "something else\n");
  const Outcome same = run("topic --cases shapes/few.yaml" + kQuickCheck);
  EXPECT_TRUE(same.code == 0 || same.code == 5) << same.out << same.err;
  EXPECT_EQ(sh("git -C build/base rev-parse HEAD").out, revision("main~1") + "\n");
}

// The base reads the file of its own revision, which has one case more.
TEST_F(CheckAgainstBase, PathsAreRelativeToTheFolderItIsCalledIn) {
  commit("shapes/few.yaml", kOneCase);
  const Outcome ran = run("HEAD~1 --cases few.yaml --json result.json" + kQuickCheck, "shapes");
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("1 GONE"));
  const auto json = nlohmann::json::parse(read("checkout/shapes/result.json"));
  EXPECT_EQ(json["counts"]["GONE"], 1);
}

TEST_F(CheckAgainstBase, AFolderThatTheBaseDoesNotHave) {
  commit("new folder/few.yaml", kOneCase);
  const Outcome ran = run("HEAD~1 --cases few.yaml" + kQuickCheck, "new folder");
  EXPECT_TRUE(ran.code == 0 || ran.code == 5) << ran.out << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("the base has no folder 'new folder'; both builds read the files "
                                 "of this revision"));
}

TEST_F(CheckAgainstBase, FromOutsideOfTheCheckoutBothReadTheSameFiles) {
  commit("NEWS", "a change\n");
  write("elsewhere/few.yaml", kOneCase);
  const Outcome ran = run("HEAD~1 --cases few.yaml" + kQuickCheck, "../elsewhere");
  EXPECT_TRUE(ran.code == 0 || ran.code == 5) << ran.out << ran.err;
  EXPECT_THAT(ran.out + ran.err, AllOf(Not(HasSubstr("GONE")), Not(HasSubstr("no folder"))));
}

TEST_F(CheckAgainstBase, WhereHeadIsTheBaseThereIsNothingToCompare) {
  const std::string why =
      "check-against-base: HEAD is the base ('main' has all its commits) and the working tree has "
      "no changes: nothing to compare\n";
  Outcome ran = run("main --cases shapes/few.yaml");
  EXPECT_EQ(ran.code, 4);
  EXPECT_EQ(ran.err, why);
  EXPECT_EQ(read("built"), "");

  ASSERT_EQ(sh("git checkout -q -b behind").code, 0);
  ASSERT_EQ(sh("git checkout -q main").code, 0);
  commit("NEWS", "a change\n");
  ASSERT_EQ(sh("git checkout -q behind").code, 0);
  ran = run("main");
  EXPECT_EQ(ran.code, 4);
  EXPECT_EQ(ran.err, why);
}

TEST_F(CheckAgainstBase, WhereHeadIsTheBaseTheWorkingTreeIsCompared) {
  write("checkout/shapes/few.yaml", kOneCase);
  for (int i = 0; i < 12; ++i) write("checkout/notes." + std::to_string(i), "");
  const Outcome ran = run("main --cases shapes/few.yaml" + kQuickCheck);
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("1 GONE"));
  EXPECT_THAT(ran.err, HasSubstr("HEAD is the base ('main' has all its commits); comparing the "
                                 "changes of the working tree:\n M shapes/few.yaml\n"));
  EXPECT_THAT(ran.err, HasSubstr("and more; 'git status' has all"));
}

TEST_F(CheckAgainstBase, ABaseThatCannotBeBuiltIsNoVerdict) {
  commit("broken", "");
  ASSERT_EQ(sh("git rm -q broken && git commit -q -m repaired").code, 0);
  const Outcome ran = run("HEAD~1 --cases shapes/few.yaml" + kQuickCheck);
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(ran.err, HasSubstr("check-against-base: cannot build both revisions\n"));
}

TEST_F(CheckAgainstBase, ARevisionThatIsNotThere) {
  const Outcome ran = run("nowhere");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("no common ancestor with 'nowhere'"));
}

// A repository that is not opbench's. Flags name the build command and the program. The script is
// in another folder, and git does not ignore the folder of the base.
TEST_F(CheckAgainstBase, OfARepositoryOfItsOwn) {
  commit(".gitignore", "/bin/\n");
  fs::create_directories(path("elsewhere"));
  fs::copy_file(root() + "/tools/check-against-base", path("elsewhere/check-against-base"));
  const std::string script =
      path("elsewhere/check-against-base") +
      " --build 'mkdir -p bin && ${CC:-cc} -o bin/mybench opbench.c' --program bin/mybench ";
  const Outcome nothing = sh(script + "main");
  EXPECT_EQ(nothing.code, 4) << nothing.err;
  ASSERT_EQ(sh("git checkout -q -b topic").code, 0);
  commit("opbench.c", launcher("native=200"));
  const Outcome ran = sh(script + "main --case 'softplus[4096,fp32]'" + kQuickCheck, "shapes");
  ASSERT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("1 SLOWER"));
  EXPECT_THAT(ran.out, HasSubstr(" against " + root() + "/build/base/bin/mybench"));
  EXPECT_EQ(read("built"), "") << "build.sh is not asked";
  ASSERT_EQ(sh("git checkout -q main").code, 0);
  EXPECT_EQ(sh(script + "main").code, 4) << "the base that lies there is no change";
}

TEST_F(CheckAgainstBase, WhatIsWrongWithItsOwnFlagsIsTold) {
  const struct {
    const char* flags;
    int code;
    const char* message;
  } kWrong[] = {
      {"--build make main", 2, "--build COMMAND and --program PATH belong together"},
      {"--program bin/x main", 2, "--build COMMAND and --program PATH belong together"},
      {"--build", 2, "--build needs a value"},
      {"--build make --program /bin/x main", 2, "must be a path from the top of the repository"},
      {"--build true --program bin/x HEAD~1", 3, "'true' made no program '"},
      {"--build false --program bin/x HEAD~1", 3, "cannot build both revisions"},
  };
  for (const auto& wrong : kWrong) {
    const Outcome ran = run(wrong.flags);
    EXPECT_EQ(ran.code, wrong.code) << wrong.flags << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(wrong.message));
  }
  write("nowhere/x", "");
  const Outcome outside =
      sh(root() + "/tools/check-against-base --build make --program x main", "../nowhere");
  EXPECT_EQ(outside.code, 2);
  EXPECT_THAT(outside.err, HasSubstr("is in no git repository"));
}

// Git sets the place of the index in the environment of a hook.
TEST_F(CheckAgainstBase, FromAHookOfGit) {
  commit("NEWS", "a change\n");
  const Outcome ran =
      sh("GIT_DIR=" + root() + "/.git GIT_INDEX_FILE=" + root() +
         "/.git/index tools/check-against-base HEAD~1 --cases shapes/few.yaml" + kQuickCheck);
  EXPECT_TRUE(ran.code == 0 || ran.code == 5) << ran.out << ran.err;
  EXPECT_EQ(sh("git -C build/base rev-parse HEAD").out, revision("HEAD~1") + "\n");
  EXPECT_EQ(sh("git status --porcelain").out, "");
}

}  // namespace opbench
