// Tests the command line in this process: exit codes, messages, files.
#include "cli/cli.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "dump/dump_file.h"
#include "harness/run/results_file.h"
#include "tensor/processor.h"
#include "tests/cli/error_line.h"
#include "tests/support/peers.h"
#include "tests/support/source_tree.h"
#include "tests/support/wide_terminal.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

/// A short run of a small case, with further arguments.
Outcome small_run(std::vector<std::string> more) {
  std::vector<std::string> args = {
      "--case", "softplus[2x20x5x7,fp32,NC1HWC0]", "--time", "0.002", "--repetitions", "3"};
  args.insert(args.end(), more.begin(), more.end());
  return opbench_with(args);
}

class Cli : public testing::Test, protected TempDir {};

}  // namespace

TEST_F(Cli, RunsTheMainJob) {
  const Outcome outcome =
      opbench_with({"--op", "softplus", "--shapes", source_file("cases/resnet.yaml"), "--set",
                    "N=1", "--filter", "7x7", "--time", "0.002", "--repetitions", "2"});
  EXPECT_EQ(outcome.code, kAllWell) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("softplus[1x2048x7x7,fp16,NC1HWC0]  ("));
  EXPECT_THAT(outcome.out, HasSubstr("8 cases"));
}

TEST_F(Cli, BackwardRunsTheGraph) {
  const Outcome outcome = small_run({"--backward", "--variant", "softplus_v2,native"});
  EXPECT_EQ(outcome.code, kAllWell) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr(",backward]  ("));
  EXPECT_THAT(outcome.out, HasSubstr("2 passed"));
}

// An empty gradient has no corner values.
TEST_F(Cli, BackwardOfEmptyTensorsHasNothingToCompare) {
  for (const char* id : {"neg[0,fp32,ND]", "concat[0x3,0x3,fp32,ND]", "pad[3x0x2,fp16,ND]"}) {
    const Outcome outcome = opbench_with({"--case", id, "--backward", "--variant", "native",
                                          "--time", "0.002", "--repetitions", "1"});
    EXPECT_EQ(outcome.code, kAllWell) << outcome.out;
    EXPECT_THAT(outcome.out, HasSubstr("no elements to compare")) << id;
  }
}

TEST_F(Cli, LargeOutputsAreVerifiedOnASampleUnlessAllIsWanted) {
  for (const std::string what : {"sample", "all"}) {
    const Outcome outcome =
        opbench_with({"--case", "relu[7000000,fp32]", "--variant", "relu", "--time", "0",
                      "--verify", what, "--json", path("r.json")});
    EXPECT_EQ(outcome.code, kAllWell) << outcome.out << outcome.err;
    const auto document = nlohmann::json::parse(read("r.json"));
    const double share = document["records"][0]["verified_share"];
    EXPECT_NEAR(share, what == "all" ? 1 : 0.3, 0.02);
    EXPECT_EQ(outcome.out.find("1 result is verified on a sample") != std::string::npos, share < 1);
  }
  const Outcome other = opbench_with({"--case", "relu[4,fp32]", "--verify", "some"});
  EXPECT_EQ(other.code, kBadInput);
  EXPECT_THAT(other.err, HasSubstr("--verify takes sample or all, found 'some'"));
}

// The values of an index are known only at the call.
TEST_F(Cli, AVariantThatRefusesTheValuesIsSkipped) {
  const Outcome outcome =
      opbench_with({"--case", "index_add[5,5,5,fp32,ND,data.index=integers(0,4)]", "--variant",
                    "native,index_select", "--time", "0.002"});
  EXPECT_EQ(outcome.code, kAllWell) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("1 passed, 1 skipped"));
  EXPECT_THAT(outcome.out, HasSubstr("skipped: index_select: 'index' is not a permutation"));
}

TEST_F(Cli, OneDnnIsSkippedWhereClampsBoundsAreTheWrongWayRound) {
  const Outcome outcome = opbench_with(
      {"--case", "clamp[64,fp32,ND,min=1,max=-1]", "--time", "0.002", "--repetitions", "1"});
  EXPECT_EQ(outcome.code, kAllWell) << outcome.out << outcome.err;
}

// The 910A casts int8 to uint8 as |x|. The run must report this and fail.
TEST_F(Cli, AWrongVariantFailsTheRunAndCanBeRepeated) {
  const WideTerminal wide;
  const Outcome outcome = opbench_with(
      {"--case", "cast[4096,int8,ND,to=uint8]", "--variant", "npu_910a", "--time", "0.002"});
  EXPECT_EQ(outcome.code, kVerdictFailed) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("FAILED"));
  EXPECT_THAT(
      outcome.out,
      HasSubstr("opbench --case 'cast[4096,int8,ND,to=uint8]' --variant npu_910a --threads "));
}

TEST_F(Cli, WritesJsonCsvMarkdownAndTrace) {
  const Outcome outcome = small_run({"--out", path("results"), "--threads", "1,2"});
  ASSERT_EQ(outcome.code, kAllWell) << outcome.err;
  const auto json = nlohmann::json::parse(read("results/results.json"));
  EXPECT_EQ(json["opbench"], kResultsVersion);
  EXPECT_THAT(json["command"].get<std::string>(), StartsWith("opbench --case 'softplus[2x20x5x7"));
  EXPECT_FALSE(json["machine"]["cpu"].get<std::string>().empty());
  EXPECT_TRUE(json["machine"]["libraries"].contains("HDF5"));
  bool has_v2 = false;
  for (const auto& record : json["records"]) {
    if (record["variant"] != "softplus_v2") continue;
    has_v2 = true;
    EXPECT_EQ(record["samples_us"].size(), 3u) << "every repetition is kept";
    EXPECT_EQ(record["status"], "passed");
    // C = 20 is stored in 32 lanes: 2*32*5*7*4 bytes are read, and as many are written.
    EXPECT_EQ(record["bytes"], 2 * 2 * 32 * 5 * 7 * 4);
    EXPECT_GT(record["copy_gb_per_s"], 0);
    EXPECT_LE(record["max_ulp"], 2);
    EXPECT_EQ(record["case"], "softplus[2x20x5x7,fp32,NC1HWC0,beta=1,threshold=20]");
  }
  EXPECT_TRUE(has_v2);

  std::istringstream csv(read("results/results.csv"));
  std::string header, line;
  std::getline(csv, header);
  EXPECT_THAT(header, StartsWith("case,name,op,variant"));
  std::size_t lines = 0;
  while (std::getline(csv, line)) ++lines;
  EXPECT_EQ(lines, json["records"].size());

  const std::string markdown = read("results/results.md");
  EXPECT_THAT(markdown, StartsWith("# opbench results\n\n```sh\nopbench --case 'softplus["));
  for (const auto& record : json["records"]) {
    EXPECT_THAT(markdown, HasSubstr(record["variant"].get<std::string>()));
  }

  const auto trace = nlohmann::json::parse(read("results/trace.json"));
  std::size_t slices = 0;
  for (const auto& event : trace["traceEvents"]) slices += event["ph"] == "X";
  std::size_t samples = 0;
  for (const auto& record : json["records"]) samples += record["samples_us"].size();
  EXPECT_EQ(slices, samples);
  EXPECT_GT(slices, 0u);
}

TEST_F(Cli, SamplesAreRepeatedUntilTheirNoiseOrTheTimeIsReached) {
  const std::vector<std::string> usual = {
      "--case", "softplus[64,fp32]", "--variant", "native", "--threads", "1", "--time",
      "0.5",    "--repetitions"};
  const auto records_of = [&](std::vector<std::string> more) {
    std::vector<std::string> args = usual;
    args.insert(args.end(), more.begin(), more.end());
    const Outcome run = opbench_with(args);
    EXPECT_EQ(run.code, 0) << run.err;
    return nlohmann::json::parse(run.out)["records"][0];
  };
  const auto easy = records_of({"6", "--until-noise", "100", "--json", "-"});
  EXPECT_EQ(easy["noise_limit_percent"], 100);
  EXPECT_LE(easy["noise_percent"], 100);
  EXPECT_GE(easy["warmup_calls"], 1);
  EXPECT_GT(easy["first_call_us"], 0);
  const auto more =
      records_of({"2", "--until-noise", "100", "--rotate-inputs", "4", "--json", "-"});
  EXPECT_GE(more["samples_us"].size(), 6u) << "fewer have no interval";
  EXPECT_EQ(more["input_copies"], 4);
  EXPECT_THAT(more["reproduce"].get<std::string>(), HasSubstr(" --rotate-inputs 4"));
  EXPECT_EQ(opbench_with({"--case", "relu[4,fp32]", "--until-noise", "0"}).code, 2);
  EXPECT_EQ(opbench_with({"--case", "relu[4,fp32]", "--until-noise", "1", "--time", "0"}).code, 2);
  EXPECT_EQ(opbench_with({"--case", "relu[4,fp32]", "--rotate-inputs", "65"}).code, 2);
}

TEST_F(Cli, DumpsInputsAndOutputs) {
  ASSERT_EQ(small_run({"--variant", "native,softplus_v2,reference", "--dump", path("x.h5")}).code,
            kAllWell);
  DumpFile reader(path("x.h5"));
  ASSERT_EQ(reader.records().size(), 3u);
  const DumpRecord& native = reader.records()[0];
  const DumpRecord& npu = reader.records()[1];
  const DumpRecord& reference = reader.records()[2];
  EXPECT_EQ(native.op, "softplus");
  EXPECT_EQ(npu.seq, 2);
  EXPECT_EQ(native.on(Side::output)[0]->device, DeviceType::cpu);
  EXPECT_EQ(npu.on(Side::output)[0]->device, DeviceType::npu);
  EXPECT_EQ(npu.on(Side::output)[0]->format, Format::NC1HWC0);
  EXPECT_EQ(reference.on(Side::output)[0]->device, DeviceType::cpu);
  ASSERT_EQ(npu.on(Side::input).size(), 3u) << "self, beta, threshold";
  const std::int64_t count = npu.on(Side::output)[0]->desc.elements();
  ASSERT_EQ(count, 2 * 20 * 5 * 7) << "padding lanes are not dumped";
  std::vector<float> a(static_cast<std::size_t>(count)), b(a.size());
  reader.read(*npu.on(Side::output)[0], {0, count}, a.data());
  reader.read(*reference.on(Side::output)[0], {0, count}, b.data());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-6f * std::abs(b[i]));
}

TEST_F(Cli, ADryRunTellsLargeMemoryInLargeUnits) {
  EXPECT_EQ(
      opbench_with({"--case", "relu[100000x1000000,fp32]", "--variant", "native", "--dry-run"}).out,
      "relu[100000x1000000,fp32,ND]  745.1 GiB\n  native\n")
      << "2 * 4e11 bytes";
}

TEST_F(Cli, DryRunRunsNothing) {
  const Outcome outcome = small_run({"--dry-run", "--json", path("x.json")});
  EXPECT_EQ(outcome.code, kAllWell);
  EXPECT_THAT(outcome.out, HasSubstr("softplus[2x20x5x7,fp32,NC1HWC0,beta=1,threshold=20]"));
  EXPECT_THAT(files(), testing::IsEmpty());
}

TEST_F(Cli, PartsAreAPartition) {
  const auto ids = [](const std::string& part) {
    std::vector<std::string> args = {"--op", "relu", "--shapes", source_file("cases/resnet.yaml"),
                                     "--dry-run"};
    if (!part.empty()) args.insert(args.end(), {"--part", part, "--out", "unused"});
    std::istringstream out(opbench_with(args).out);
    std::vector<std::string> found;
    for (std::string line; std::getline(out, line);) {
      if (line.starts_with("relu[")) found.push_back(line);
    }
    return found;
  };
  const auto all = ids("");
  EXPECT_EQ(all.size(), 48u) << "12 shapes, 2 dtypes, 2 formats";
  std::vector<std::string> joined;
  for (const char* name : {"1/3", "2/3", "3/3"}) {
    const auto part = ids(name);
    EXPECT_THAT(part, testing::SizeIs(testing::Ge(12u)));
    joined.insert(joined.end(), part.begin(), part.end());
  }
  EXPECT_THAT(joined, testing::UnorderedElementsAreArray(all));
}

TEST_F(Cli, SelectsTheInstructionSet) {
  const Outcome outcome = small_run(
      {"--variant", "softplus_v2", "--isa", supported_isas().back(), "--json", path("x.json")});
  EXPECT_EQ(outcome.code, kAllWell) << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(read("x.json"))["records"][0]["isa"], supported_isas().back());
  opbench_with({"--case", "relu[4,fp32]", "--isa", supported_isas().front(), "--dry-run"});
  expect_one_line_error(small_run({"--isa", "mmx"}), kBadInput, "mmx");
}

TEST_F(Cli, ColdRunsAreMarked) {
  const Outcome outcome =
      small_run({"--variant", "softplus_v2", "--cold", "--json", path("x.json")});
  EXPECT_EQ(outcome.code, kAllWell);
  const auto record = nlohmann::json::parse(read("x.json"))["records"][0];
  EXPECT_TRUE(record["cold"]);
  EXPECT_THAT(record["reproduce"].get<std::string>(), HasSubstr("--cold"));
  EXPECT_THAT(outcome.out, HasSubstr("cold"));
}

TEST_F(Cli, ReproducingLineRunsTheSameCase) {
  ASSERT_EQ(small_run({"--variant", "softplus_v2", "--json", path("x.json")}).code, kAllWell);
  const auto record = nlohmann::json::parse(read("x.json"))["records"][0];
  EXPECT_EQ(record["reproduce"].get<std::string>().substr(0, 70),
            "opbench --case 'softplus[2x20x5x7,fp32,NC1HWC0,beta=1,threshold=20]' -");
  ASSERT_EQ(opbench_with({"--case", record["case"], "--variant", "softplus_v2", "--time", "0.002",
                          "--json", path("y.json")})
                .code,
            kAllWell);
  EXPECT_EQ(nlohmann::json::parse(read("y.json"))["records"][0]["case"], record["case"]);
}

TEST_F(Cli, BadInputIsOneLineAndRunsNothing) {
  const std::string bad = write("bad.yaml", "shapes:\n  - [1, -2]\n");
  const std::string good = write("good.yaml", "shapes:\n  - [1, 2]\n");
  const struct {
    std::vector<std::string> args;
    const char* text;
  } kCases[] = {
      {{"--op", "sofplus", "--shapes", good},
       "unknown operator 'sofplus'; did you mean 'softplus'?"},
      {{"--op", "softplus", "--shapes", bad}, "bad.yaml:2: extent -2 is negative"},
      {{"--op", "softplus", "--shapes", path("none.yaml")}, "cannot read case file"},
      {{"--op", "softplus"}, "--op softplus needs --shapes FILE"},
      {{"--shapes", good}, "--shapes needs --op NAME"},
      {{"--cases", good}, "the file has no 'cases'"},
      {{"--op", "softplus", "--shapes", good, "--variant", "softplus_v3"},
       "no operator of this run has a variant 'softplus_v3'; did you mean 'softplus_v2'?"},
      {{"--op", "softplus", "--shapes", good, "--dtype", "fp31"}, "fp31"},
      {{"--op", "softplus", "--shapes", good, "--dtype", "int32"},
       "good.yaml:2: softplus: input 'self' is int32"},
      {{"--op", "softplus", "--shapes", good, "--format", "HWCN"}, "good.yaml:2: "},
      {{"--op", "softplus", "--shapes", good, "--set", "N"}, "--set 'N' must be NAME=VALUE"},
      {{"--op", "softplus", "--shapes", good, "--set", "N=4"}, "the file has no symbol 'N'"},
      {{"--op", "softplus", "--shapes", good, "--part", "3/2"}, "--part '3/2' must be K/N"},
      {{"--op", "softplus", "--shapes", good, "--filter", "("},
       "--filter '(' is not a regular expression"},
      {{"--case", "softplus[1x2"}, "is not of the form"},
      {{"--case", "relu[4,fp32]", "--dtype", "fp16"},
       "--case states dtype, format and shape itself"},
      {{"--case", "relu[4,fp32,fp16]"}, "'fp16' is given twice"},
      {{"--case", "softplus[4,beta=1,beta=2]"}, "'beta=2' is given twice"},
      {{"--case", "relu[\n2]"}, "\\x0a2"},
      {{"--case", "relu[4,fp32]", "--time", "nan"}, "--time is nan; it must be from 1e-06 to 3600"},
      {{"--case", "relu[4,fp32]", "--filter", std::string(5000, '(')},
       "--filter has 5000 characters"},
      {{"--case", "relu[1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1,fp32]"}, "17 dimensions; at most 16"},
      {{"--op", "softplus", "--shapes", "/dev/zero"}, "it is not a regular file"},
      {{"--case", "relu[4,fp32]", "--json", path("r"), "--csv", path("./r")}, "the same file"},
      {{"--case", "mean_grad[1x2,1x2,fp32]"}, "mean_grad: input 'grad_output' must be a scalar"},
      {{"--threads", "0", "--case", "relu[4,fp32]"}, "--threads"},
      {{"--nonsense"}, "--nonsense"},
      {{"--operator", "relu"}, "unknown flag '--operator' of run; did you mean '--op'?"},
      {{"--case", "relu[8,fp32,NCWH]"}, "unknown format 'NCWH'; did you mean 'NCHW'?"},
      {{"--case", "softplus[8,64,56,56,fp32]"},
       "softplus takes 1 input tensor, found 4; a shape has an x between its extents: 8x64x56x56"},
      {{"--case", "softplus"}, "such as 'softplus[8x64x56x56,fp32,NCHW]'"},
      {{"--case", "relu[4,fp32]", "--isa", "avx512"}, "(AVX-512 is called avx3)"},
      {{"--case", "relu[4,fp32]", "--time", "abc"}, "--time: 'abc' is not a number"},
      {{"--case", "relu[4,fp32]", "--time", "-1"}, "or 0, which only verifies"},
      {{"report", "x.json", "--format", "html"}, "a page for a browser is --html FILE"},
      {{"merge", "x.jsonl"}, "-o FILE (--out is required"},
      {{"compare", source_file("results/samples/results.json"), "x.h5"},
       "opbench check --baseline OLD --current NEW"},
      {{"report", source_file("results/samples/compare.json"), "--to", "csv"}, "--html page.html"},
      {{"lst"}, "unknown command 'lst'; did you mean 'list'?"},
  };
  for (const auto& c : kCases) expect_one_line_error(opbench_with(c.args), kBadInput, c.text);
}

TEST_F(Cli, AFilterThatTakesNothingSaysWhatThereIs) {
  const std::vector<std::string> run = {"--op", "softplus", "--shapes",
                                        source_file("cases/resnet.yaml"), "--filter"};
  const auto filtered = [&](const std::string& filter) {
    std::vector<std::string> args = run;
    args.push_back(filter);
    return opbench_with(args);
  };
  expect_one_line_error(
      filtered("nosuch"), kNothingToJudge,
      "--filter 'nosuch' selects none of 48 cases; their ids and names are such as "
      "softplus[32x64x112x112,fp32,NCHW");
  expect_one_line_error(filtered("layer1.0.rely"), kNothingToJudge,
                        "did you mean 'layer1.0.relu'?");
}

TEST_F(Cli, MoreThreadsThanCoresGetANote) {
  EXPECT_THAT(small_run({"--threads", "1024", "--dry-run"}).err,
              HasSubstr("opbench: note: 1024 threads on "));
  EXPECT_EQ(small_run({"--threads", "1", "--dry-run"}).err, "");
}

TEST_F(Cli, UnwritableOutputIsFoundBeforeTheRun) {
  expect_one_line_error(small_run({"--json", path("no/such/x.json")}), kCouldNotFinish,
                        "No such file or directory");
  expect_one_line_error(small_run({"--csv", directory().string()}), kCouldNotFinish,
                        "Is a directory");
  expect_one_line_error(small_run({"--dump", path("no/x.h5")}), kCouldNotFinish, "no/x.h5");
  EXPECT_THAT(files(), testing::IsEmpty());
}

TEST_F(Cli, ResultsGoThroughLinksAndNeverReplaceDevices) {
  const std::string target = write("target.json", "");
  fs::create_symlink(target, path("link.json"));
  ASSERT_EQ(small_run({"--json", path("link.json")}).code, kAllWell);
  EXPECT_TRUE(fs::is_symlink(path("link.json")));
  EXPECT_THAT(read("target.json"), StartsWith("{"));
  EXPECT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  expect_one_line_error(small_run({"--json", path("pipe")}), kCouldNotFinish, "cannot write");
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
}

// This pattern would backtrack for a very long time in a naive matcher.
TEST_F(Cli, PathologicalFiltersEnd) {
  EXPECT_EQ(small_run({"--dry-run", "--filter", "(([0-9a-zA-Z,.x]+)+)+$^"}).code, kNothingToJudge);
}

TEST_F(Cli, RepeatedCasesAreJoined) {
  const std::string file = write("twice.yaml",
                                 "shapes:\n  - {name: a, shape: [4, 5], count: 2}\n"
                                 "  - {name: b, shape: [4, 5], count: 5}\n");
  const Outcome outcome =
      opbench_with({"--op", "relu", "--shapes", file, "--variant", "native", "--time", "0.002"});
  EXPECT_THAT(outcome.out, HasSubstr("(a x7, "));
}

TEST_F(Cli, ACaseLargerThanMemoryIsRecordedAndTheRunGoesOn) {
  const Outcome outcome = opbench_with({"--case", "relu[1000000x1000000,fp32]", "--case",
                                        "relu[64,fp32]", "--variant", "native", "--time", "0.002"});
  EXPECT_EQ(outcome.code, kCouldNotFinish);
  EXPECT_THAT(outcome.out, HasSubstr("iB of memory, "));
  EXPECT_THAT(outcome.out, HasSubstr("1 passed, 1 errored"));
}

TEST_F(Cli, NothingToJudgeIsNoSuccess) {
  EXPECT_EQ(small_run({"--filter", "conv"}).code, kNothingToJudge);
  if (peer_of("softplus") == nullptr) GTEST_SKIP() << "built without oneDNN";
  const Outcome skipped = opbench_with({"--case", "softplus[8,fp16]", "--variant", "onednn"});
  EXPECT_EQ(skipped.code, kNothingToJudge) << "all skipped";
  EXPECT_THAT(skipped.out, HasSubstr("skipped: "));
}

TEST_F(Cli, ListShowsVariantsAndReasons) {
  const Outcome outcome = opbench_with({"list", "softplus"});
  EXPECT_EQ(outcome.code, kAllWell);
  for (const char* text :
       {"native", "softplus_v2_static", "beta = 1", "NaN and Inf inputs are outside"}) {
    EXPECT_THAT(outcome.out, HasSubstr(text));
  }
  expect_one_line_error(opbench_with({"list", "sofplus"}), kBadInput, "did you mean 'softplus'?");
}

TEST_F(Cli, HelpShowsExamplesAndExitCodes) {
  const Outcome outcome = opbench_with({"--help"});
  EXPECT_EQ(outcome.code, kAllWell);
  EXPECT_THAT(outcome.out, HasSubstr("opbench --op softplus --shapes cases/resnet.yaml"));
  EXPECT_THAT(outcome.out, HasSubstr("Exit codes"));
  EXPECT_THAT(opbench_with({"run", "--help-all"}).out, HasSubstr("--repetitions"));
  EXPECT_THAT(opbench_with({"--version"}).out, StartsWith("opbench "));
}

}  // namespace opbench
