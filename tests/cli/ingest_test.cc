// `opbench ingest` through the built program.
#include <gmock/gmock.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/cli.h"
#include "tensor/utf8.h"
#include "tests/support/program.h"
#include "tests/support/source_tree.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class IngestCli : public testing::Test, protected TempDir {
 protected:
  static std::string sample(const std::string& name) { return test_data("profiles") / name; }
};

TEST_F(IngestCli, PrintsHotSpotsAndWritesThem) {
  const Outcome run = run_program({"ingest", sample("kernel_details/alexnet_level1_rank0.csv"),
                                   sample("op_statistic/alexnet_level1_rank0.csv"), "--top", "3",
                                   "--json", path("hot.json"), "--csv", path("hot.csv")});
  EXPECT_EQ(run.code, kAllWell) << run.err;
  EXPECT_THAT(run.out,
              AllOf(HasSubstr(": kernel_details, 191 rows of 46 columns\n"),
                    HasSubstr("Device time 8873.737 us in 187 tasks; communication, not counted: "
                              "105991.876 us\nin 4 tasks\n"),
                    HasSubstr("TransData      57 tasks      1423.202 us  16.04%"),
                    HasSubstr("24 of 33 types equal, 9 within rounding")));
  const auto json = nlohmann::json::parse(read("hot.json"));
  EXPECT_EQ(json["hot_spots"]["groups"]["TransData"]["count"], 57);
  EXPECT_EQ(json["hot_spots"]["operators"][0]["type"], "ForeachAddList");
  EXPECT_THAT(read("hot.csv"), HasSubstr("\nForeachAddList,AI_VECTOR_CORE,3,1959.079,0.22077"));
}

TEST_F(IngestCli, WritesTheFilesOfTheGuidesFromLogs) {
  const Outcome calls = run_program({"ingest", sample("host_logs/plog-27441_20230109110428123.log"),
                                     "--op-info", path("info.txt")});
  EXPECT_EQ(calls.code, kAllWell) << calls.err;
  EXPECT_THAT(calls.out, AllOf(HasSubstr("Host calls: 23, "), HasSubstr("cut in the log: 1\n")));
  EXPECT_THAT(read("info.txt"), StartsWith("Identity InputDesc[0]: [TensorDesc] DataType = 0"));
  fs::create_directory(path("logs"));
  fs::copy(sample("host_logs/plog-27441_20230109110428123.log"), path("logs"));
  write("logs/plog-1.log", "[INFO] HCCL(1,python): nothing\n");
  write("logs/notes.txt", "no log");
  ASSERT_EQ(run_program({"ingest", path("logs"), "--op-info", path("folder.txt")}).code, kAllWell);
  EXPECT_EQ(read("folder.txt"), read("info.txt"));
  const Outcome steps = run_program({"ingest", sample("host_logs/nohup_recompile_old.out"),
                                     "--recompile", path("list.txt"), "--json", path("logs.json")});
  EXPECT_EQ(steps.code, kAllWell) << steps.err;
  EXPECT_THAT(steps.out, HasSubstr("after step 3 of 8, a sign of dynamic shapes: 8 operators\n"
                                   "  NonZero in 3 steps\n"));
  EXPECT_EQ(read("list.txt"),
            text_of(sample("host_logs/nohup_recompile_old.recompile_op_list.txt")));
  const auto json = nlohmann::json::parse(read("logs.json"));
  EXPECT_EQ(json["logs"]["late"][0]["op"], "NonZero");
}

TEST_F(IngestCli, WritesAContextThatRunsAndIsSearched) {
  const Outcome run = run_program({"ingest", sample("kernel_details/alexnet_level1_rank0.csv"),
                                   "--context", path("near.yaml"), "--around", "LogSoftmaxGrad"});
  EXPECT_EQ(run.code, kAllWell) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("Context around LogSoftmaxGrad"),
                             HasSubstr(" edges inferred by shape and dtype, ")));
  const Outcome timed = run_program(
      {"run", "--cases", path("near.yaml"), "--time", "0.001", "--repetitions", "1", "--quiet"});
  EXPECT_EQ(timed.code, kAllWell) << timed.out << timed.err;
  const Outcome searched = run_program({"remedy", "--cases", path("near.yaml"), "--quiet"});
  EXPECT_EQ(searched.code, kAllWell) << searched.err;
}

TEST_F(IngestCli, RefusesAContextOfWhatHasNoOrder) {
  const Outcome sums = run_program(
      {"ingest", sample("op_statistic/alexnet_level1_rank0.csv"), "--context", path("near.yaml")});
  EXPECT_EQ(sums.code, kNothingToJudge);
  EXPECT_THAT(sums.err, HasSubstr("op_statistic has no calls in order: "));
  EXPECT_THAT(files(), testing::IsEmpty());
  const std::string table = sample("kernel_details/alexnet_level1_rank0.csv");
  const Outcome deep = run_program({"ingest", table, "--context", path("n.yaml"), "--depth", "-1"});
  EXPECT_EQ(deep.code, kBadInput);
  EXPECT_THAT(deep.err, HasSubstr("--depth is -1; allowed: 0 to 100"));
  const Outcome idle = run_program({"ingest", table, "--around", "Conv2D"});
  EXPECT_EQ(idle.code, kBadInput);
  EXPECT_THAT(idle.err, HasSubstr("--around and --depth need --context FILE"));
}

TEST_F(IngestCli, ReadsTracesAndSaysTheShareOfTheStep) {
  const Outcome run =
      run_program({"ingest", sample("traces/torch_kineto_2021_resnet50_one_step.json.gz"), "--top",
                   "2", "--json", path("trace.json")});
  EXPECT_EQ(run.code, kAllWell) << run.err;
  EXPECT_THAT(
      run.out,
      AllOf(HasSubstr("trace, 4977 events"), HasSubstr("Device time 99208.000 us in 1478 tasks"),
            HasSubstr("One step takes 123.9 ms: computing 78.1 %, copies "),
            HasSubstr("Operators of the host: 3413, 3410 with shapes; 1478 of 1478 kernels"),
            HasSubstr("   123884.000    78.13%"), HasSubstr("%  ProfilerStep#6\n"),
            HasSubstr("Outside of steps: computing 2412.000 us")));
  const auto json = nlohmann::json::parse(read("trace.json"));
  EXPECT_EQ(json["trace"]["steps"][0]["computing_us"], 96796);
  const auto& first = json["trace"]["operators"][1];
  EXPECT_EQ(first["name"], "aten::cudnn_batch_norm_backward");
  EXPECT_EQ(first["calls"], 4);
  EXPECT_NEAR(first["step_share"].get<double>(), 2694.0 / 123884, 1e-4);
  const Outcome refused =
      run_program({"ingest", sample("traces/torch_execution_trace_simple_add_et.json.gz")});
  EXPECT_EQ(refused.code, kBadInput);
  EXPECT_THAT(refused.err, HasSubstr("an execution trace of PyTorch, which has no times"));
}

TEST_F(IngestCli, ReadsTheBeginningOfACutArchive) {
  const std::string whole = text_of(sample("traces/torch_kineto_rocm_minitoy_mi250.json.gz"));
  write("cut.json.gz", whole.substr(0, whole.size() * 4 / 5));
  const Outcome run = run_program({"ingest", path("cut.json.gz")});
  EXPECT_THAT(run.out, AllOf(HasSubstr("cut.json.gz: trace, 125 events"),
                             HasSubstr("the trace ends inside an event"),
                             HasSubstr("Operators of the host: 70")));
}

TEST_F(IngestCli, ReadsTablesAndTextsOfOtherTools) {
  const Outcome nsys = run_program({"ingest", sample("gpu/nsys_cuda_gpu_kern_sum.csv")});
  EXPECT_EQ(nsys.code, kAllWell) << nsys.err;
  EXPECT_THAT(nsys.out, HasSubstr("Device time 198511.027 us in 679 tasks"));
  const Outcome graph = run_program({"ingest", sample("mindspore/aicore_intermediate_1_detail.csv"),
                                     sample("mindspore/aicore_intermediate_1_type.csv"),
                                     sample("mindspore/framework_raw_1.csv")});
  EXPECT_EQ(graph.code, kAllWell) << graph.err;
  EXPECT_THAT(graph.out, HasSubstr("21 of 21 types equal\n"));
  const Outcome calls = run_program({"ingest", sample("calls/msprobe_dump.json"), "--wide"});
  EXPECT_EQ(calls.code, kAllWell) << calls.err;
  EXPECT_THAT(calls.out, HasSubstr("Tensor.__or__.forward 1,4096;1,4096 BOOL;BOOL"));
  const std::string cut = write("cut.json", "{\"dump_data_dir\": null, \"data\": {");
  const Outcome broken = run_program({"ingest", cut});
  EXPECT_EQ(broken.code, kBadInput);
  EXPECT_THAT(broken.err, HasSubstr("cut.json"));
}

TEST_F(IngestCli, ReadsACutTraceAndSaysWhere) {
  const std::string file = write("cut.json",
                                 "[\n{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1,"
                                 "\"dur\":2.5},\n{\"ph\":\"X\",\"cat\":\"ker");
  const Outcome run = run_program({"ingest", file});
  EXPECT_EQ(run.code, kAllWell) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("skipped 1 of 2 events"),
                             HasSubstr("cut.json:3: the trace ends inside an event"),
                             HasSubstr("Device time 2.500 us in 1 task\n")));
}

TEST_F(IngestCli, PrintsFindingsByTheRulesThatAreGiven) {
  const std::string rules = write("rules.yaml", "findings: {trans_data: {share: 0.9}}\n");
  const std::string table = sample("kernel_details/alexnet_level1_rank0.csv");
  const Outcome run = run_program({"ingest", table, "--json", path("hot.json")});
  EXPECT_THAT(run.out,
              AllOf(HasSubstr("   1.0 %    1.0 % trans_data: 57 TransData take 16.0 % of the "
                              "device time\n"),
                    HasSubstr("Block dims are not checked: --cores")));
  const auto json = nlohmann::json::parse(read("hot.json"));
  EXPECT_EQ(json["findings"][0]["rule"], "communication");
  EXPECT_EQ(json["findings"][0]["evidence"][0]["line"], 81);
  EXPECT_EQ(json["order"]["busy_us"], 8873.737);
  const Outcome other =
      run_program({"ingest", table, "--rules", rules, "--cores", "24", "--vector-cores", "48"});
  EXPECT_THAT(other.out, AllOf(testing::Not(HasSubstr("trans_data:")), HasSubstr("block_dim: ")));
  EXPECT_EQ(run_program({"ingest", table, "--rules", path("none.yaml")}).code, kBadInput);
}

TEST_F(IngestCli, ComparesTwoProfilesAndFailsNothing) {
  const auto table = [&](const std::string& name, int us) {
    std::string text = "Step Id,Name,Type,Accelerator Core,Duration(us)\n";
    for (int step = 0; step < 5; ++step) {
      text += std::to_string(step) + ",a,Add,AI_CORE," + std::to_string(us) + ".5\n";
    }
    return write(name, text);
  };
  const std::string before = table("old.csv", 10), after = table("new.csv", 20);
  const Outcome run =
      run_program({"ingest", "--before", before, "--after", after, "--json", path("watch.json")});
  EXPECT_EQ(run.code, kAllWell) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("Operators: 1 SLOWER, 0 FASTER, 0 SAME"),
                             HasSubstr("This is a watch, not a gate.")));
  EXPECT_EQ(nlohmann::json::parse(read("watch.json"))["counts"]["SLOWER"], 1);
  // The rules say that these cores communicate, so there is nothing to compare.
  const std::string rules = write("rules.yaml", "communication: {cores: [AI_CORE]}\n");
  EXPECT_EQ(run_program({"ingest", "--before", before, "--after", after, "--rules", rules}).code,
            kNothingToJudge);
  EXPECT_EQ(run_program({"ingest", "--before", before}).code, kBadInput);
  EXPECT_EQ(run_program({"ingest", "--before", before, "--after", path("none.csv")}).code,
            kBadInput);
  const std::string empty = write("head.csv", "Name,Type,Accelerator Core,Duration(us)\n");
  EXPECT_EQ(run_program({"ingest", "--before", before, "--after", empty}).code, kNothingToJudge);
}

// Writes a case file from a table and runs it. The run gives times, errors and the total of the
// network.
TEST_F(IngestCli, WritesCasesThatRun) {
  const std::string table =
      write("k.csv",
            "Name,Type,Accelerator Core,Duration(us),Input Shapes,Input Data Types,Input Formats,"
            "Output Shapes,Output Data Types,Output Formats\n"
            "t,TransData,AI_CORE,5,\"2,20,8,8\",FLOAT16,NCHW,\"2,2,8,8,16\",FLOAT16,NC1HWC0\n"
            "r,Relu,AI_CORE,3,\"2,2,8,8,16\",FLOAT16,NC1HWC0,\"2,2,8,8,16\",FLOAT16,NC1HWC0\n"
            "r,Relu,AI_CORE,3.5,\"2,2,8,8,16\",FLOAT16,NC1HWC0,\"2,2,8,8,16\",FLOAT16,NC1HWC0\n"
            "s,UnknownType,AI_CORE,11.5,\"2,2\",FLOAT,ND,\"2,1\",FLOAT,ND\n");
  const Outcome cases = run_program({"ingest", table, "--cases", path("it.yaml")});
  EXPECT_EQ(cases.code, kAllWell) << cases.err;
  EXPECT_THAT(cases.out, HasSubstr("\n2 cases cover 50.0 % of the device time\nNot covered, share "
                                   "and count:\n   50.00%       1  UnknownType: no operator"));
  EXPECT_THAT(cases.out, testing::Not(HasSubstr("total us")));
  const Outcome run =
      run_program({"run", "--cases", path("it.yaml"), "--variant", "native", "--time", "0.001",
                   "--repetitions", "1", "--threads", "1", "--json", path("r.json")});
  EXPECT_EQ(run.code, kAllWell) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("Network, 2 cases in 3 calls, 1 thread: "),
                             HasSubstr("; 11.50 us when profiled\n")));
  const auto json = nlohmann::json::parse(read("r.json"));
  EXPECT_EQ(json["records"][0]["case"], "relu[2x20x8x8,fp16,NC1HWC0]");
  EXPECT_EQ(json["records"][0]["count"], 2);
  EXPECT_EQ(json["records"][0]["weight_us"], 6.5);
  EXPECT_THAT(run_program({"report", path("r.json")}).out, HasSubstr("Network, 2 cases"));
}

TEST_F(IngestCli, SaysWhereThereIsNoCase) {
  const Outcome run = run_program(
      {"ingest", sample("kernel_details/level0_8col_crlf.csv"), "--cases", path("it.yaml")});
  EXPECT_EQ(run.code, kNothingToJudge);
  EXPECT_THAT(run.out, HasSubstr("0 cases cover 0.0 % of the device time\n"));
  EXPECT_THAT(run.err, StartsWith("opbench: no cases: no operator of 187 calls can be a case; "));
  EXPECT_THAT(files(), testing::IsEmpty());
}

// 77.6 % and 18.8 % are step_trace_time.csv's 105991.878 and 25744.05 us of 136581.
TEST_F(IngestCli, BeginsWithWhereTheStepGoes) {
  const Outcome run = run_program({"ingest", sample("kernel_details/alexnet_level1_rank0.csv")});
  EXPECT_THAT(run.out, StartsWith("One step takes 136.6 ms: computing 6.5 %, communication 77.6 % "
                                  "(partly\n  overlapped: 74.7 % alone), idle 18.8 %\n"));
  const std::size_t findings =
      run.out.find("Findings, by what they could save at most of the step:");
  const std::size_t first = run.out.find("  74.7 %   74.7 % WARNING communication: ");
  const std::size_t second = run.out.find("  18.8 %   18.8 % WARNING idle: ");
  const std::size_t third = run.out.find("trans_data: ");
  EXPECT_LT(findings, first);
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
  EXPECT_LT(third, run.out.find("total us"));
  EXPECT_THAT(run.out, testing::Not(HasSubstr("WARNING trans_data")));
}

// Sums have no order in time, so steps are unknown and shares are those of the device time.
TEST_F(IngestCli, SaysWhereNoStepIsKnown) {
  const Outcome run = run_program({"ingest", sample("op_statistic/alexnet_level1_rank0.csv")});
  EXPECT_EQ(run.code, kAllWell) << run.err;
  EXPECT_THAT(run.out,
              AllOf(StartsWith("Device time 8.874 ms in 187 tasks; steps are not known, so "
                               "shares are of the\n  device time\n"),
                    HasSubstr("Findings, by what they could save at most of the device time:"),
                    HasSubstr("ForeachAddList")));
}

/// The number of columns of the longest line.
std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, utf8_length(line));
  return longest;
}

TEST_F(IngestCli, PrintsNoLineBeyondTheWidth) {
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(test_data("profiles"))) {
    if (!entry.is_regular_file() || entry.path().filename().string().starts_with("expected"))
      continue;
    const std::string file = entry.path().string();
    SCOPED_TRACE(file);
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{"--cores", "24", "--vector-cores", "48"},
          {"--cases", path("c.yaml")},
          {"--context", path("n.yaml")}}) {
      std::vector<std::string> words = {"ingest", file, "--top", "0"};
      words.insert(words.end(), more.begin(), more.end());
      EXPECT_LE(longest_line(run_program(words).out), 80u);
    }
    ++count;
  }
  EXPECT_GT(count, 30u);
  const std::string before = sample("kernel_details/alexnet_level1_rank0.csv");
  const std::string after = sample("kernel_details/llm_bf16_st_rank0.csv");
  const Outcome two = run_program({"ingest", "--before", before, "--after", after, "--top", "0"});
  EXPECT_LE(longest_line(two.out), 80u);
  EXPECT_GT(longest_line(run_program({"ingest", before, "--wide"}).out), 200u);
}

TEST_F(IngestCli, IsQuietWithoutTables) {
  const Outcome run =
      run_program({"ingest", sample("kernel_details/alexnet_level1_rank0.csv"), "-q"});
  EXPECT_THAT(run.out, AllOf(StartsWith("One step takes"), HasSubstr("communication: "),
                             testing::Not(HasSubstr("total us"))));
}

// Windows writes such texts, with or without a byte order mark.
TEST_F(IngestCli, NamesTheEncodingThatIsNotUtf8) {
  const std::string text = "Name,Type,Accelerator Core,Duration(us)\na,Add,AI_CORE,1.5\n";
  const auto encoded = [&](std::size_t bytes, bool is_big) {
    std::string all;
    for (const char letter : "#" + text) {
      std::string one(bytes, '\0');
      one[is_big ? bytes - 1 : 0] = letter;
      all += one;
    }
    return all;
  };
  const auto refused = [&](const std::string& bytes) {
    const Outcome run = run_program({"ingest", write("k.csv", bytes), "--cases", path("c.yaml")});
    EXPECT_EQ(run.code, kBadInput);
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
    EXPECT_FALSE(fs::exists(path("c.yaml")));
    return run.err.substr(run.err.find("k.csv"));
  };
  using namespace std::string_literals;
  for (const bool is_big : {false, true}) {
    EXPECT_EQ(refused(encoded(2, is_big)), "k.csv: its text is UTF-16; save it as UTF-8\n");
    EXPECT_EQ(refused(encoded(4, is_big)), "k.csv: its text is UTF-32; save it as UTF-8\n");
  }
  EXPECT_EQ(refused("\xFF\xFE" + encoded(2, false)),
            "k.csv: its text is UTF-16; save it as UTF-8\n");
  EXPECT_EQ(refused("\xFF\xFE\0\0"s + encoded(4, false)),
            "k.csv: its text is UTF-32; save it as UTF-8\n");
  EXPECT_EQ(run_program({"ingest", write("k.csv", "\xEF\xBB\xBF" + text)}).code, kAllWell);
}

// A spreadsheet skips a line break before "=".
TEST_F(IngestCli, WritesNoFormulaIntoCsv) {
  const std::string table = write("k.csv",
                                  "Name,Type,Accelerator Core,Duration(us)\n"
                                  "\"\n=1+1\",Add,AI_CORE,1.5\n");
  const Outcome run = run_program({"ingest", table, "--csv", path("o.csv")});
  EXPECT_EQ(run.code, kAllWell) << run.err;
  EXPECT_THAT(read("o.csv"), HasSubstr(",\"'\n=1+1\","));
}

TEST_F(IngestCli, ReadsWhatIsCompressed) {
  const std::string text = "Name,Type,Accelerator Core,Duration(us)\na,Add,AI_CORE,1.5\n";
  const gzFile file = gzopen(path("k.gz").c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  const Outcome run = run_program({"ingest", path("k.gz")});
  EXPECT_EQ(run.code, kAllWell);
  EXPECT_THAT(run.out, HasSubstr("Device time 1.500 us in 1 task\n"));
}

TEST_F(IngestCli, ReadsTheOthersWhereAFileCannotBe) {
  write("junk.csv", std::string("\0\xff\x80\n\n\"", 6));
  write("empty.csv", "");
  write("head.csv", "Name,Type,Accelerator Core,Duration(us)\n");
  const Outcome run = run_program({"ingest", path("junk.csv"), path("none.csv"), path("empty.csv"),
                                   sample("kernel_details/minimal_7col.csv")});
  EXPECT_EQ(run.code, kBadInput);
  EXPECT_THAT(run.err, AllOf(StartsWith("opbench: "),
                             HasSubstr("junk.csv: not recognised as a profile, log or trace; known "
                                       "are kernel_details.csv, op_summary*.csv, "),
                             HasSubstr("\nopbench: cannot read '"),
                             HasSubstr("none.csv': No such file or directory"),
                             HasSubstr("empty.csv: the file is empty\n")));
  EXPECT_THAT(run.out, HasSubstr("Device time 1000.850 us in 8 tasks"));
  const Outcome head = run_program({"ingest", path("head.csv")});
  EXPECT_EQ(head.code, kNothingToJudge);
  EXPECT_THAT(head.err, HasSubstr("head.csv: no task, call or event is in it"));
  EXPECT_EQ(run_program({"ingest"}).code, kBadInput);
  EXPECT_EQ(run_program({"ingest", directory().string()}).code, kBadInput);
}

TEST_F(IngestCli, DoesNotOverwriteWhatItReads) {
  const std::string file = write("k.csv", "Name,Type,Duration(us)\na,Add,1\n");
  const Outcome run = run_program({"ingest", file, "--csv", file});
  EXPECT_EQ(run.code, kBadInput);
  EXPECT_THAT(read("k.csv"), StartsWith("Name,"));
}

}  // namespace
}  // namespace opbench
