#include "cli/msaccucmp_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <sstream>

#include "cli/command_line.h"
#include "tests/cli/csv.h"
#include "tests/support/program.h"
#include "tests/support/source_tree.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// The arguments in opbench's spelling. Arguments without effect follow after " | ".
std::string translated(const std::string& text) {
  std::vector<std::string> args = words_of("compare " + text);
  const std::vector<std::string> without = translate_msaccucmp_options(args).without_effect;
  EXPECT_EQ(args.front(), "compare");
  args.erase(args.begin());
  return fmt::format("{}{}{}", fmt::join(args, " "), without.empty() ? "" : " | ",
                     fmt::join(without, " "));
}

std::string refused(const std::string& text) {
  try {
    return "taken as " + translated(text);
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(MsaccucmpOptions, HaveTheirNamesThere) {
  EXPECT_EQ(translated("-m a -g b -out c -alg 0,1 -p 1 -advisor"),
            "--my_dump_path a --golden_dump_path b --out c --algorithm 0,1 -p 1 --advisor");
  EXPECT_EQ(translated("--my_dump_path a --golden_dump_path b --output c --algorithm all "
                       "--post_process 1"),
            "--my_dump_path a --golden_dump_path b --out c --algorithm all -p 1");
}

TEST(MsaccucmpOptions, AreReadAsArgparseReadsThem) {
  EXPECT_EQ(translated("-alg=0,1 -out=c"), "--algorithm 0,1 --out c");
  EXPECT_EQ(translated("-alg 1 2 8 -out c"), "--algorithm 1,2,8 --out c");
  EXPECT_EQ(translated("--algorithm 1 2 8 x.h5"), "--algorithm 1,2,8 x.h5");
  EXPECT_EQ(translated("--post 1 --my a --golden_dump b"),
            "-p 1 --my_dump_path a --golden_dump_path b");
  EXPECT_EQ(translated("-advisor -- -alg"), "--advisor -- -alg");
  EXPECT_EQ(refused("-adv"), "-adv is the beginning of several options: -advisor, -a");
  EXPECT_EQ(refused("--outp c"),
            "--outp is the beginning of several options: --output, --output_tensor");
  EXPECT_EQ(refused("--alg 0"),
            "--alg is the beginning of several options: --algorithm, --algorithm_options");
  EXPECT_EQ(refused("-al 0"), "-al is the beginning of several options: -alg, -a");
  EXPECT_EQ(refused("-out"), "-out needs a value");
  EXPECT_EQ(refused("-out -advisor"), "-out needs a value");
  EXPECT_EQ(refused("-advisor=1"), "-advisor takes no value, found '1'");
}

TEST(MsaccucmpOptions, WithoutEffectAreNoted) {
  EXPECT_EQ(translated("-m a -g b -cf x.json -max -1 -overflow_detection -ffts -v 2 -a 0:k=v "
                       "--ignore_single_op_result --version=2 -q"),
            "--my_dump_path a --golden_dump_path b -q | -cf -max -overflow_detection -ffts -v -a "
            "--ignore_single_op_result --version");
}

// argparse accepts the value directly after the letter or after an equals sign.
TEST(MsaccucmpOptions, ALetterMayHaveItsValueWithIt) {
  for (const char* version : {"-v2", "-v=2", "-v 2"}) {
    EXPECT_EQ(translated(std::string("-m a -g b ") + version),
              "--my_dump_path a --golden_dump_path b | -v");
  }
  EXPECT_THAT(refused("-m a -g b -v1"), StartsWith("-v is 1; only 2 is allowed"));
  EXPECT_EQ(translated("a b -vv"), "a b -vv");
  EXPECT_THAT(refused("-m a -g b -q=x.json"), StartsWith("-q is not for HDF5 dumps"));
}

// -o is a tensor's index in msaccucmp and a directory in opbench.
TEST(MsaccucmpOptions, ANumberIsNoDirectory) {
  EXPECT_EQ(
      refused("-m a -g b -out c -o 0"),
      "-o 0 is not for HDF5 dumps: --only REGEX selects operators and tensors; a directory is "
      "-o ./0");
  EXPECT_EQ(translated("a b -o 0"), "a b -o 0");
}

// msaccucmp's rule: "Unknown names: warning, dropped". No name of a list in several words is
// unknown.
TEST(MsaccucmpOptions, UnknownAlgorithmsAreLeftOut) {
  const auto left_out = [](const std::string& list, const std::string& kept) {
    std::vector<std::string> args = words_of("compare -m a -g b -alg " + list);
    const MsaccucmpNotes notes = translate_msaccucmp_options(args);
    EXPECT_EQ(args.back(), kept);
    return notes.unknown_algorithms;
  };
  EXPECT_THAT(left_out("foo,1,12,bar,MaxAbsoluteError", "1,MaxAbsoluteError"),
              testing::ElementsAre("foo", "12", "bar"));
  EXPECT_THAT(left_out("foo", "foo"), IsEmpty()) << "nothing is left: who reads it complains";
  EXPECT_THAT(left_out("all", "all"), IsEmpty());
  EXPECT_THAT(left_out("1 2 11", "1,2,11"), IsEmpty());
}

TEST(MsaccucmpOptions, RefusedAreSoByName) {
  for (const char* option : {"-f x", "-q x.json", "-map", "--mapping", "-c x", "-op conv", "-r 1,2",
                             "-s 1", "-i 0", "-n 5", "-ml 5", "--output_tensor 0"}) {
    const std::string name = words_of(option).front();
    EXPECT_THAT(refused(std::string("-m a -g b ") + option),
                StartsWith(name + " is not for HDF5 dumps: "));
  }
  EXPECT_THAT(refused("-map"), HasSubstr("--map FILE"));
  EXPECT_THAT(refused("-op x"), HasSubstr("--only REGEX"));
  EXPECT_THAT(refused("-m a -g b -v 1"), StartsWith("-v is 1; only 2 is allowed"));
}

// Without the check, opbench would create a directory of this name.
TEST(MsaccucmpOptions, NoWordBecomesADirectoryByMistake) {
  EXPECT_EQ(translated("-overflow_detection a b"), "a b | -overflow_detection");
  EXPECT_THAT(refused("-overflow"), HasSubstr("several options: -o, -overflow_detection"));
  EXPECT_EQ(refused("-m a -g b -overflow-detection"),
            "-overflow-detection is unknown; a directory is -o DIR");
}

TEST(MsaccucmpOptions, WhatIsSpelledAsOursIsOurs) {
  const std::string ours =
      "a b -o out -oreport -q -v -p 1 --out c --golden ref --map m.yaml --top 3 --match aligned "
      "--max-elements 5 --only -x";
  EXPECT_EQ(translated(ours), ours);
  EXPECT_EQ(translated("-m a -g b -q -v -o out"),
            "--my_dump_path a --golden_dump_path b -q -v -o out");
}

class MsaccucmpOptionsTyped : public testing::Test, protected TempDir {
 protected:
  Outcome run(const std::string& more) const {
    const fs::path folder = test_data("msaccucmp") / "basic";
    std::vector<std::string> args = {"compare", "-m", folder / "npu.h5", "-g", folder / "gpu.h5"};
    for (std::string& word : words_of(more)) args.push_back(word);
    return run_program(args, {{}, directory()});
  }
};

TEST_F(MsaccucmpOptionsTyped, GiveItsResult) {
  const Outcome ran =
      run("--output out --post_process 1 --algorithm 1 2 8 -overflow_detection -v 2");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("opbench: no effect on HDF5 dumps: -overflow_detection, -v\n"));
  EXPECT_FALSE(fs::exists(path("verflow_detection")));
  std::size_t results = 0, rows = 0, filtered = 0;
  for (const auto& file : fs::recursive_directory_iterator(path("out"))) {
    const std::string name = file.path().filename();
    if (!name.ends_with(".csv") || name == "compare.csv") continue;
    const auto found = csv::read(file.path());
    EXPECT_EQ(found[0][6], "MaxAbsoluteError");
    EXPECT_EQ(found[0][7], "AccumulatedRelativeError");
    EXPECT_EQ(found[0][8], "MaxRelativeError");
    (name == "filtered_result.csv" ? filtered : rows) = found.size();
    ++results;
  }
  EXPECT_EQ(results, 2u);
  EXPECT_LT(filtered, rows) << "by their cosines, which have no column";
}

TEST_F(MsaccucmpOptionsTyped, SayWhatIsLeftOut) {
  const Outcome ran = run("-out out -alg foo,1");
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.err, HasSubstr("opbench: unknown algorithms are ignored: foo\n"));
  const Outcome bad = run("-out none -alg 1 2 11");
  EXPECT_EQ(bad.code, 2);
  EXPECT_THAT(bad.err, StartsWith("opbench: unknown algorithm '11'; allowed are all, 0 to 9"));
}

TEST_F(MsaccucmpOptionsTyped, AreRefusedInOneLine) {
  const Outcome ran = run("-map");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, AllOf(StartsWith("opbench: -map is not for HDF5 dumps: "),
                             testing::EndsWith("; see opbench --help\n")));
  EXPECT_THAT(ran.out, IsEmpty());
}

TEST_F(MsaccucmpOptionsTyped, AreInTheHelp) {
  const Outcome help = run_program({"compare", "--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.out, HasSubstr("-a -cf -max -overflow_detection -ffts"));
}

}  // namespace
}  // namespace opbench
