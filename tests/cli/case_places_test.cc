// Tests where the built program finds cases and contexts.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/support/program.h"
#include "tests/support/source_tree.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CasePlaces : public testing::Test, protected TempDir {
 protected:
  CasePlaces() {
    for (const char* folder : {"bin", "share/opbench/cases", "work/mine"}) {
      fs::create_directories(path(folder));
    }
    write("share/opbench/cases/shipped.yaml", "cases: [{op: relu, inputs: [[7]]}]\n");
    write("share/opbench/cases/unit.yaml",
          "symbols: {N: 2}\ncontexts:\n  - name: unit\n    inputs: {x: [N, 8]}\n"
          "    nodes: [{op: relu, in: x, out: y}]\n    outputs: [y]\n"
          "    steps: [{name: plain, variants: {default: native}}]\n");
    write("work/mine/a.yaml", "cases: [{op: relu, inputs: [[5]]}]\n");
    write("work/mine/b.yaml", "shapes: [[6]]\n");
    write("work/mine/c.txt", "no YAML: {");
    fs::copy_file(program(), path("bin/opbench"));
  }

  // Runs the copied program in the folder `work`.
  Outcome installed(const std::string& args) const {
    return shell("../bin/opbench " + args, {.environment = {}, .directory = path("work")});
  }
};

}  // namespace

TEST_F(CasePlaces, InstalledFilesAreFoundAfterThePathAsGiven) {
  for (const char* path : {"shipped.yaml", "cases/shipped.yaml"}) {
    EXPECT_THAT(installed(std::string("--dry-run --cases ") + path).out, HasSubstr("relu[7,fp32"));
  }
  fs::create_directory(path("work/cases"));
  write("work/cases/shipped.yaml", "cases: [{op: relu, inputs: [[9]]}]\n");
  EXPECT_THAT(installed("--dry-run --cases cases/shipped.yaml").out, HasSubstr("relu[9,fp32"));
  EXPECT_THAT(installed("--dry-run --cases cases/none.yaml").err,
              HasSubstr("cannot read case file 'cases/none.yaml'"));
}

TEST_F(CasePlaces, FoldersAndPatternsStandForTheirFiles) {
  write("work/mine/d.yml", "cases: [{op: relu, inputs: [[8]]}]\n");
  for (const char* word : {"mine", "mine/", "'mine/*.y*ml'", "'mine/[ad]*'"}) {
    const Outcome outcome = installed(std::string("--dry-run --cases ") + word);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("relu[5,fp32"), HasSubstr("relu[8,fp32"))) << word;
  }
  EXPECT_THAT(installed("--dry-run --cases 'ship*'").out, HasSubstr("relu[7,fp32")) << "installed";
  EXPECT_THAT(installed("--dry-run --cases 'x*'").err, HasSubstr("no case file matches 'x*'"));
  fs::create_directory(path("work/empty"));
  EXPECT_THAT(installed("--dry-run --cases empty").err,
              HasSubstr("the folder 'empty' has no case file (*.yaml)"));
}

TEST_F(CasePlaces, AContextIsNamedByItsId) {
  EXPECT_THAT(installed("--dry-run --case 'unit[N=2,fp32]'").out,
              AllOf(HasSubstr("unit[N=2,fp32]"), HasSubstr("plain  1 tasks")));
  EXPECT_THAT(installed("--dry-run --case 'unit[N=3,fp16]' --variant plain").out,
              HasSubstr("unit[N=3,fp16]"));
  const Outcome run = installed("--case 'unit[N=3,fp32]' --time 0.001 --repetitions 2");
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("unit[N=3,fp32]  (3x8, "));
  EXPECT_THAT(installed("--dry-run --case 'unti[N=2,fp32]'").err,
              HasSubstr("unknown operator or context 'unti'; did you mean 'unit'?"));
  EXPECT_THAT(installed("--dry-run --case 'unit[N=9000000000000000000,fp32]'").err,
              AllOf(HasSubstr("--case 'unit[N=9000000000000000000,fp32]': "), HasSubstr(".yaml:")))
      << "the file is right but for the symbol";
  EXPECT_THAT(installed("--dry-run --case 'unit[fp32]'").out, HasSubstr("unit[N=2,fp32]"))
      << "symbols that are left out keep their values";
}

TEST_F(CasePlaces, NamesAloneAreForScripts) {
  EXPECT_THAT(installed("list --names").out, AllOf(HasSubstr("\nrelu\n"), Not(HasSubstr(" "))));
  EXPECT_EQ(installed("list relu --names").out.substr(0, 7), "native\n");
}

}  // namespace opbench
