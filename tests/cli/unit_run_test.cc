// Runs in parts, resumed runs, and runs in their own processes, through the built program.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/cli.h"
#include "tests/cli/error_line.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::SizeIs;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

const Words kCases = {"--case", "relu[64,fp32]",     "--case", "relu[65,fp32]",
                      "--case", "softplus[66,fp32]", "--case", "relu[67,fp32]"};

// Members that depend on times, which differ between runs. The formula contains the scale of the
// last call's values, and times decide the number of calls. All other members are equal in every
// run.
const std::vector<std::string> kOfTimes = {"median_us",
                                           "clock_after_mhz",
                                           "clock_before_mhz",
                                           "first_call_us",
                                           "noise_percent",
                                           "retaken",
                                           "throttled",
                                           "throttled_by",
                                           "warmup_calls",
                                           "warmup_us",
                                           "mad_us",
                                           "cv",
                                           "min_us",
                                           "gb_per_s",
                                           "copy_gb_per_s",
                                           "gflop_per_s",
                                           "gelements_per_s",
                                           "percent_of_copy",
                                           "percent_of_roofline",
                                           "speedup_over_native",
                                           "peak_gflop_per_s",
                                           "preemptions",
                                           "disturbed",
                                           "copy_way",
                                           "best",
                                           "bound",
                                           "samples_us",
                                           "iterations",
                                           "status",
                                           "reason",
                                           "formula"};

class UnitRun : public testing::Test, protected TempDir {
 protected:
  /// Runs `opbench CASES ARGS` for a short time on each case.
  Outcome run(Words args, const ProcessOptions& options = {}) const {
    return run_program(quick(std::move(args)), options);
  }
  /// Runs the same arguments with kernels that fail in this way.
  Outcome run_faulty(Words args, const std::string& variable, const std::string& value) const {
    Words words = quick(std::move(args));
    words.insert(words.begin(), faulty_program());
    // By default the address sanitizer turns the signal into an exit code.
    return Process(std::move(words),
                   {.environment = {{variable, value}, {"ASAN_OPTIONS", "handle_segv=0"}},
                    .directory = {}})
        .wait();
  }
  static Words quick(Words args, const char* time = "0.0001") {
    Words all = kCases;
    for (const char* word : {"--variant", "native,onednn", "--threads", "1", "--time", time,
                             "--repetitions", "2", "-q"}) {
      all.emplace_back(word);
    }
    all.insert(all.end(), args.begin(), args.end());
    return all;
  }

  Json records(const std::string& file) const {
    Json records = Json::parse(read(file))["records"];
    for (Json& record : records) {
      for (const std::string& name : kOfTimes) record.erase(name);
    }
    return records;
  }

  std::size_t lines(const std::string& file) const {
    const std::string text = read(file);
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  void expect_refused(const Words& args, const std::string& message) const {
    expect_one_line_error(run(args), kBadInput, message);
  }

  Outcome merge(const Words& files, const std::string& output = "merged.json") const {
    Words args = {"merge"};
    for (const std::string& file : files) args.push_back(path(file));
    args.insert(args.end(), {"-o", path(output), "-q"});
    return run_program(args);
  }
};

}  // namespace

TEST_F(UnitRun, PartsMergeToTheWhole) {
  ASSERT_EQ(run({"--json", path("whole.json")}).code, kAllWell);
  for (const char* part : {"1/3", "2/3", "3/3"}) {
    const Outcome outcome = run({"--part", part, "--out", path("d")});
    ASSERT_EQ(outcome.code, kAllWell) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("is complete in"));
  }
  const Words parts = {"d/parts/part-1-of-3.jsonl", "d/parts/part-2-of-3.jsonl",
                       "d/parts/part-3-of-3.jsonl"};
  const Outcome outcome = merge({parts[2], parts[0], parts[1], parts[0]});
  ASSERT_EQ(outcome.code, kAllWell) << outcome.err;
  EXPECT_EQ(records("merged.json"), records("whole.json"));
  EXPECT_FALSE(fs::exists(path("d/results.json")));
  // Other commands read the merged file.
  EXPECT_EQ(run_program({"report", path("merged.json"), "-o", path("m.md")}).code, kAllWell);
  EXPECT_EQ(run_program(
                {"check", "--baseline", path("merged.json"), "--current", path("whole.json"), "-q"})
                .code,
            kAllWell);
}

// A scheduler would restart a part that ends with another exit code.
TEST_F(UnitRun, APartWithoutAUnitIsWell) {
  for (const char* part : {"1/5", "2/5", "3/5", "4/5", "5/5"}) {
    ASSERT_EQ(run({"--part", part, "--resume", path("d")}).code, kAllWell) << part;
  }
  EXPECT_EQ(lines("d/parts/part-5-of-5.jsonl"), 1u);
  ASSERT_EQ(
      merge({"d/parts/part-1-of-5.jsonl", "d/parts/part-2-of-5.jsonl", "d/parts/part-3-of-5.jsonl",
             "d/parts/part-4-of-5.jsonl", "d/parts/part-5-of-5.jsonl"})
          .code,
      kAllWell);
  EXPECT_THAT(records("merged.json"), SizeIs(8));
}

// A resumed run has the start times of its samples, like an uninterrupted run.
TEST_F(UnitRun, ARunThatGoesOnHasTheTimesOfItsSamples) {
  ASSERT_EQ(run({"--out", path("d")}).code, kAllWell);
  const std::string text = read("d/parts/part-1-of-1.jsonl");
  std::size_t end = 0;
  for (int line = 0; line < 3; ++line) end = text.find('\n', end) + 1;
  write("d/parts/part-1-of-1.jsonl", text.substr(0, end));  // two of four units
  ASSERT_EQ(run({"--resume", path("d"), "--artefact", path("run.h5")}).code, kAllWell);
  using Span = std::pair<double, double>;
  const auto spans = [](const std::string& trace) {
    std::vector<Span> found;
    const Json document = Json::parse(trace);
    for (const Json& event : document["traceEvents"]) {
      if (event["ph"] == "X") found.emplace_back(event["ts"], event["dur"]);
    }
    return found;
  };
  const std::vector<Span> samples = spans(read("d/trace.json"));
  EXPECT_GE(samples.size(), 8u) << "2 of each unit and more";
  EXPECT_LT(samples.at(0).first, 1);
  for (std::size_t i = 1; i < samples.size(); ++i) {
    EXPECT_GE(samples[i].first, samples[i - 1].first + samples[i - 1].second) << i;
  }
  EXPECT_EQ(run_program({"report", path("run.h5"), "--format", "trace"}).out, read("d/trace.json"));
  const Outcome merged = run_program({"merge", path("d/parts/part-1-of-1.jsonl"), "-o",
                                      path("m.json"), "--artefact", path("m.h5"), "-q"});
  ASSERT_EQ(merged.code, kAllWell) << merged.err;
  EXPECT_EQ(spans(run_program({"report", path("m.h5"), "--format", "trace"}).out), samples);
}

TEST_F(UnitRun, AMergeNamesWhatIsMissing) {
  ASSERT_EQ(run({"--part", "1/2", "--out", path("d")}).code, kAllWell);
  const Outcome outcome = merge({"d/parts/part-1-of-2.jsonl"});
  EXPECT_EQ(outcome.code, kCouldNotFinish);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr(" of 4 units are missing:\n  unit "),
                                 HasSubstr(",fp32,ND]\n"), HasSubstr("--resume DIR")));
  EXPECT_FALSE(fs::exists(path("merged.json")));
  const Outcome allowed = run_program({"merge", path("d/parts/part-1-of-2.jsonl"), "-o",
                                       path("merged.json"), "--allow-missing", "-q"});
  EXPECT_EQ(allowed.code, kCouldNotFinish);
  EXPECT_TRUE(Json::parse(read("merged.json"))["run"]["interrupted"]);
}

TEST_F(UnitRun, PartsOfAnotherPlanDoNotMerge) {
  ASSERT_EQ(run({"--part", "1/2", "--out", path("a")}).code, kAllWell);
  ASSERT_EQ(run({"--part", "2/2", "--out", path("b"), "--cold"}).code, kAllWell);
  const Outcome outcome = merge({"a/parts/part-1-of-2.jsonl", "b/parts/part-2-of-2.jsonl"});
  EXPECT_EQ(outcome.code, kBadInput);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("part-2-of-2.jsonl:1: is of plan "),
                                 HasSubstr("parts of one plan are merged")));
}

// The run is ended after every line and within each line. The completed results equal those of an
// uninterrupted run.
TEST_F(UnitRun, WhatWasKilledGoesOn) {
  ASSERT_EQ(run({"--out", path("whole")}).code, kAllWell);
  const std::string text = read("whole/parts/part-1-of-1.jsonl");
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') ends.push_back(i + 1);
  }
  ASSERT_THAT(ends, SizeIs(5));
  for (const std::size_t length : {ends[0] - 20, ends[0], ends[1] + 30, ends[2], ends[4] - 1}) {
    write("d/parts/part-1-of-1.jsonl", text.substr(0, length));
    const Outcome outcome = run({"--resume", path("d")});
    ASSERT_EQ(outcome.code, kAllWell) << outcome.err;
    EXPECT_EQ(records("d/results.json"), records("whole/results.json")) << length;
    fs::remove_all(path("d"));
  }
  // The file is complete, so no unit runs.
  const std::string before = read("whole/parts/part-1-of-1.jsonl");
  ASSERT_EQ(run({"--resume", path("whole")}).code, kAllWell);
  EXPECT_EQ(lines("whole/parts/part-1-of-1.jsonl"), 5u + 1u);
}

TEST_F(UnitRun, AProcessThatIsKilledLosesAUnit) {
  const Words args = quick({"--resume", path("d")}, "0.2");
  {
    Words words = args;
    words.insert(words.begin(), program());
    Process process(words);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (lines("d/parts/part-1-of-1.jsonl") < 2 && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    process.send(SIGKILL);
    process.wait();
  }
  EXPECT_FALSE(fs::exists(path("d/results.json")));
  const Outcome outcome = run_program(args);
  ASSERT_EQ(outcome.code, kAllWell) << outcome.err;
  EXPECT_THAT(records("d/results.json"), SizeIs(8));
}

TEST_F(UnitRun, AnotherRunIsNotContinuedAndAnUnfinishedOneNotReplaced) {
  ASSERT_EQ(run({"--out", path("d")}).code, kAllWell);
  ASSERT_EQ(run({"--out", path("d")}).code, kAllWell) << "what is complete is replaced";
  const std::string file = "d/parts/part-1-of-1.jsonl";
  EXPECT_EQ(lines(file), 5u);
  expect_refused({"--resume", path("d"), "--cold"}, "part-1-of-1.jsonl is of plan ");
  const std::string text = read(file);
  write(file, text.substr(0, text.size() - 1));
  expect_refused({"--out", path("d")},
                 "has 3 of 4 units of an incomplete run; continue with --resume ");
  write(file, text + "x\n");
  expect_refused({"--resume", path("d")}, "part-1-of-1.jsonl:6: no JSON: ");
}

// The remaining variants of the unit run again without it.
TEST_F(UnitRun, AVariantThatCrashesOrPrintsCostsItsRow) {
  for (const auto& [variable, reason] :
       {std::pair{"OPBENCH_TEST_VARIANT_CRASH", "crashed: its process was ended by signal 11"},
        std::pair{"OPBENCH_TEST_VARIANT_PRINT",
                  "its process gave an answer that cannot be read: 'here is onednn'"}}) {
    const Outcome outcome =
        run_faulty({"--unit-timeout", "60", "--out", path(variable)}, variable, "onednn");
    EXPECT_EQ(outcome.code, kCouldNotFinish) << outcome.err;
    int lost = 0;
    const Json all = Json::parse(read(std::string(variable) + "/results.json"))["records"];
    for (const Json& record : all) {
      const bool is_lost = record["variant"] == "onednn";
      EXPECT_EQ(record["status"] == "errored", is_lost) << record;
      if (!is_lost) continue;
      ++lost;
      EXPECT_THAT(record["reason"].get<std::string>(), HasSubstr(reason));
    }
    EXPECT_EQ(lost, 4);
    EXPECT_THAT(outcome.err, HasSubstr("variant 'onednn' of relu["));
  }
}

TEST_F(UnitRun, ACrashAndAHangCostOneUnit) {
  for (const auto& [variable, reason] :
       {std::pair{"OPBENCH_TEST_UNIT_CRASH", "its process was ended by signal 11"},
        std::pair{"OPBENCH_TEST_UNIT_HANG", "it took longer than 3 s (--unit-timeout)"}}) {
    const Outcome outcome =
        run_faulty({"--unit-timeout", "3", "--out", path(variable)}, variable, "softplus[");
    EXPECT_EQ(outcome.code, kCouldNotFinish) << outcome.err;
    const Json all = Json::parse(read(std::string(variable) + "/results.json"))["records"];
    ASSERT_THAT(all, SizeIs(8));
    for (const Json& record : all) {
      const bool is_lost = record["op"] == "softplus";
      EXPECT_EQ(record["status"] == "errored", is_lost) << record;
      if (!is_lost) continue;
      EXPECT_THAT(record["reason"].get<std::string>(), HasSubstr(reason));
    }
  }
}

TEST_F(UnitRun, AProcessForUnitsGivesTheSameResults) {
  ASSERT_EQ(run({"--json", path("a.json")}).code, kAllWell);
  ASSERT_EQ(run({"--unit-timeout", "60", "--json", path("b.json")}).code, kAllWell);
  EXPECT_EQ(records("a.json"), records("b.json"));
}

TEST_F(UnitRun, AFullDiskSaysSoAndGoesOnLater) {
  Words args = quick({"--resume", path("d")});
  std::string line = "'" + program() + "'";
  for (const std::string& arg : args) line += " '" + arg + "'";
  const Outcome full = shell("ulimit -f 8; trap '' XFSZ; exec " + line);  // 4 or 8 KiB
  EXPECT_EQ(full.code, kCouldNotFinish);
  EXPECT_THAT(full.err, HasSubstr("File too large"));
  const Outcome outcome = run({"--resume", path("d")});
  ASSERT_EQ(outcome.code, kAllWell) << outcome.err;
  EXPECT_THAT(records("d/results.json"), SizeIs(8));
}

// Ranks of mpirun, if it is installed and opbench has MPI.
TEST_F(UnitRun, RanksGiveWhatOneProcessGives) {
  if (!has_command("mpirun")) GTEST_SKIP() << "there is no mpirun";
  if (!fs::exists(fs::path(program()).replace_filename("opbench_mpi.so"))) {
    GTEST_SKIP() << "built without MPI";
  }
  ASSERT_EQ(run({"--json", path("whole.json")}).code, kAllWell);
  std::string line =
      "timeout 100 mpirun --allow-run-as-root --oversubscribe --bind-to none -np 3 '" + program() +
      "'";
  for (const std::string& arg : quick({"--out", path("d")})) line += " '" + arg + "'";
  // Leaks in MPI are not opbench's.
  const Outcome outcome =
      shell(line, {.environment = {{"ASAN_OPTIONS", "detect_leaks=0"}}, .directory = {}});
  ASSERT_EQ(outcome.code, kAllWell) << outcome.err;
  EXPECT_EQ(records("d/results.json"), records("whole.json"));
  ASSERT_EQ(run({"--resume", path("d")}).code, kAllWell) << "one process goes on where ranks were";
}

TEST_F(UnitRun, FlagsThatDoNotGoTogetherAreRefused) {
  expect_refused({"--part", "1/2"}, "--part needs --out DIR or --resume DIR");
  expect_refused({"--part", "3/2", "--out", path("d")}, "--part '3/2' must be K/N");
  expect_refused({"--part", "1/2", "--out", path("d"), "--json", path("x.json")},
                 "--json does not go with --part");
  expect_refused({"--resume", path("d"), "--out", path("d")}, "name the same folder");
  expect_refused({"--resume", path("d"), "--dump", path("x.h5")},
                 "--dump does not go with --resume");
  expect_refused({"--unit-timeout", "0"}, "--unit-timeout is 0; it must be from 0.1 to ");
  expect_refused({"--exclusive", "--no-exclusive"}, "--exclusive and --no-exclusive");
  EXPECT_THAT(run_program({"merge", path("none.jsonl"), "-o", path("x.json")}).err,
              HasSubstr("cannot read '"));
  EXPECT_FALSE(fs::exists(path("d")));
}

TEST_F(UnitRun, ADryRunShowsThePart) {
  const auto ids = [&](const std::string& part) {
    const std::string text = run({"--dry-run", "--out", path("d"), "--part", part}).out;
    return std::count(text.begin(), text.end(), '[');
  };
  EXPECT_EQ(ids("1/2") + ids("2/2"), 4);
  EXPECT_FALSE(fs::exists(path("d")));
}

}  // namespace opbench
