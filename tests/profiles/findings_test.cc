#include "profiles/findings.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tensor/error.h"
#include "tests/profiles/profiles.h"

namespace opbench {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kRatioHeader =
    "Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim,Input Shapes,"
    "Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats,mac_ratio,"
    "vec_ratio,mte2_ratio\n";

std::vector<Finding> found_in(const IngestResult& profile, const CoreCounts& cores = {}) {
  return find_remarks(profile, cores);
}

std::vector<std::string> rules_of(const std::vector<Finding>& findings) {
  std::vector<std::string> names;
  for (const Finding& one : findings) names.push_back(one.rule);
  return names;
}

const Finding& finding_of(const std::vector<Finding>& findings, std::string_view rule) {
  for (const Finding& one : findings) {
    if (one.rule == rule) return one;
  }
  throw Error("no finding " + std::string(rule));
}

/// Builds a table row by row.
class KernelTable {
 public:
  KernelTable& row(const std::string& type, double duration, const std::string& rest) {
    text_ += "n," + type + ",AI_CORE," + std::to_string(start_) + ',' + std::to_string(duration) +
             ',' + rest + '\n';
    start_ += static_cast<int>(duration) + 1;
    return *this;
  }
  KernelTable& pause(int us) {
    start_ += us;
    return *this;
  }
  std::vector<Finding> findings(const CoreCounts& cores = {}) const {
    return found_in(ingest_text(kRatioHeader + text_), cores);
  }

 private:
  std::string text_;
  int start_ = 1000;
};

constexpr const char* kNd = "0,8,\"16,16\",FLOAT,ND,\"16,16\",FLOAT,ND,,,";
constexpr const char* kTo5hd = "0,8,\"1,16,4,4\",FLOAT,NCHW,\"1,1,4,4,16\",FLOAT,NC1HWC0,,,";

// Findings are sorted by what they could save, and this is a warning from 10 % on.
TEST(Findings, AreSortedByWhatTheyCouldSave) {
  // Moves 100 us with a pipe that is busy for 98 %, Idles 60 us with one that is busy for 40 %.
  const std::string tensors = "0,8,\"16,16\",FLOAT,ND,\"16,16\",FLOAT,ND,";
  KernelTable table;
  table.row("Moves", 100, tensors + "0.1,0.2,0.98").row("Idles", 60, tensors + "0.3,0.2,0.4");
  const std::vector<Finding> findings = table.findings();
  EXPECT_THAT(rules_of(findings), testing::ElementsAre("no_bound", "memory_bound"));
  EXPECT_NEAR(findings[0].saves, 0.6 * 60 / 161, 1e-3);
  EXPECT_NEAR(findings[1].saves, 0.02 * 100 / 161, 1e-3);
  EXPECT_TRUE(findings[0].is_warning);
  EXPECT_FALSE(findings[1].is_warning);
}

// Compiling takes 20 and 40 ms in the two steps after the third; the profile's step takes 100 ms.
TEST(Findings, CompilingIsAShareOfTheStep) {
  std::string log;
  for (const int ms : {0, 900, 900, 900, 20, 40}) {
    if (ms > 0)
      log += "=====iter1\n[EVENT] To compile op: Add, compile time is " + std::to_string(ms) +
             " millisecond\n[INFO] To compile op: Add, compileFlag is 0\n";
  }
  IngestResult profile = ingest_text(
      "Name,Type,Accelerator Core,Start Time(us),Duration(us)\na,Add,AI_CORE,0,100000\n");
  ingest_bytes(bytes_of("[INFO] To compile op: Add, compileFlag is 0\n" + log), "plog.log",
               profile);
  const Finding one = finding_of(found_in(profile), "recompile");
  EXPECT_THAT(one.what, HasSubstr("for 30.0 ms of a step"));
  EXPECT_NEAR(one.saves, 0.3, 1e-6);
}

// Source of 57 rows and 16.04 %: expected_hotspots.json.
TEST(Findings, TieConversionsToTheOperatorsAroundThem) {
  const std::vector<Finding> findings =
      found_in(ingest_samples({"kernel_details/alexnet_level1_rank0.csv"}));
  const Finding& one = finding_of(findings, "trans_data");
  EXPECT_EQ(one.what, "57 TransData take 16.0 % of the device time");
  EXPECT_FALSE(one.is_warning);  // its share of the step is small
  EXPECT_NEAR(one.share, 0.1604, 1e-4);
  ASSERT_TRUE(one.step_share);
  EXPECT_NEAR(*one.step_share, 1423.202 / 136581.009, 1e-4);
  EXPECT_THAT(one.evidence[0].text,
              HasSubstr("ReluGrad -> TransData 32,3,224,224 NCHW -> 32,1,224,224,8 NC1HWC0 -> "));
  EXPECT_THAT(one.evidence[0].at.file, HasSubstr("alexnet_level1_rank0.csv"));
  EXPECT_EQ(one.evidence[0].at.line, 2);
  EXPECT_FALSE(one.advice.empty());
  EXPECT_THAT(one.tries, HasSubstr("weight_format_init"));
}

// Source: step_trace_time.csv of this run: 101963.203 us of communication without overlap and
// 25744.05 us free of 136581 us.
TEST(Findings, BeginWithWhatTakesMostOfTheStep) {
  const std::vector<Finding> findings =
      found_in(ingest_samples({"kernel_details/alexnet_level1_rank0.csv"}));
  EXPECT_EQ(findings[0].rule, "communication");
  EXPECT_TRUE(findings[0].is_warning);
  EXPECT_NEAR(findings[0].step_share.value_or(0), 101963.203 / 136581, 1e-5);
  EXPECT_THAT(findings[0].evidence[0].text, HasSubstr("79089.520 us hcom_allReduce__586_0_1"));
  EXPECT_FALSE(findings[0].advice.empty());
  EXPECT_EQ(findings[1].rule, "idle");
  EXPECT_NEAR(findings[1].step_share.value_or(0), 25744.05 / 136581, 1e-5);
  EXPECT_THAT(findings[1].evidence[0].text, HasSubstr(" us idle in front of "));
  EXPECT_TRUE(std::is_sorted(findings.begin(), findings.end(),
                             [](const auto& a, const auto& b) { return a.saves > b.saves; }));
}

// Seven casts to uint64 in the sample run on AI_CPU.
TEST(Findings, NameTheDtypeThatSentAnOperatorToAiCpu) {
  const Finding one =
      finding_of(found_in(ingest_samples({"kernel_details/gpt_fp16_aicpu_arith.csv"})), "aicpu");
  EXPECT_THAT(one.what, HasSubstr("7 tasks run on AI_CPU"));
  EXPECT_THAT(one.evidence[0].text, HasSubstr("UINT64 is the cause"));
}

TEST(Findings, AreNoneOfAProfileThatIsGood) {
  KernelTable table;
  for (int i = 0; i < 10; ++i) {
    table.row("Add", 10, "0,8,\"16,16\",FLOAT,ND,\"16,16\",FLOAT,ND,,0.5,").pause(-1);
  }
  EXPECT_THAT(table.findings(), IsEmpty());
}

// The rule needs more than two rows, as in msprof.
TEST(Findings, TwoConversionsAreNoRemark) {
  KernelTable table;
  table.row("TransData", 5, kTo5hd).row("Add", 5, kNd).row("TransData", 5, kTo5hd);
  EXPECT_THAT(rules_of(table.findings()), Not(Contains("trans_data")));
  table.row("TransData", 5, kTo5hd);
  EXPECT_THAT(rules_of(table.findings()), Contains("trans_data"));
}

TEST(Findings, AlignmentIsOfChannelsPlanesAndRows) {
  const auto text = [](const std::string& rest) {
    const auto findings = KernelTable().row("X", 10, rest).findings();
    return finding_of(findings, "alignment").evidence.at(0).text;
  };
  EXPECT_THAT(text("0,8,\"2,3,4,4\",FLOAT,NCHW,\"16,16\",FLOAT,ND,,,"),
              HasSubstr("input 0: C = 3"));
  EXPECT_THAT(text("0,8,\"2,16,7,7\",FLOAT,NCHW,\"16,16\",FLOAT,ND,,,"), HasSubstr("H*W = 49"));
  EXPECT_THAT(text("0,8,\"2,2,7,7,16\",FLOAT16,NC1HWC0,\"16,16\",FLOAT,ND,,,"),
              HasSubstr("H*W = 49"));
  EXPECT_THAT(text("0,8,\"16,16\",FLOAT,ND,\"4,10\",DT_BF16,ND,,,"),
              HasSubstr("output 0: rows of 20 bytes"));
}

TEST(Findings, BlockDimsAreJudgedByTheCoresThatAreStated) {
  KernelTable table;
  table.row("Add", 10, "0,20,\"16,16\",FLOAT,ND,\"16,16\",FLOAT,ND,,,");
  EXPECT_THAT(rules_of(table.findings()), Not(Contains("block_dim")));
  const Finding one = finding_of(table.findings({.cube = 24, .vector = 0}), "block_dim");
  EXPECT_THAT(one.evidence[0].text, HasSubstr("block dim 20 on 24 cores"));
  EXPECT_NEAR(one.saves, 4.0 / 24, 1e-9);
  EXPECT_THAT(rules_of(table.findings({.cube = 10, .vector = 0})), Not(Contains("block_dim")));
  EXPECT_THAT(rules_of(table.findings({.cube = 0, .vector = 24})), Not(Contains("block_dim")));
}

TEST(Findings, PipesTellWhatBindsAnOperator) {
  const std::string tensors = "0,8,\"16,16\",FLOAT,ND,\"16,16\",FLOAT,ND,";
  KernelTable table;
  table.row("Moves", 30, tensors + "0.1,0.2,0.9").row("Computes", 30, tensors + "0.95,0.1,0.5");
  table.row("Idles", 30, tensors + "0.3,0.2,0.4").row("Short", 3, tensors + "0.3,0.2,0.4");
  const std::vector<Finding> findings = table.findings();
  EXPECT_THAT(finding_of(findings, "memory_bound").evidence[0].text,
              HasSubstr("mte2 is busy for 90 % of it"));
  EXPECT_THAT(finding_of(findings, "compute_bound").evidence[0].text,
              HasSubstr("mac is busy for 95 % of it"));
  EXPECT_THAT(finding_of(findings, "no_bound").evidence, testing::SizeIs(1));
}

TEST(Findings, SmallOperatorsInARowMayBeFused) {
  KernelTable table;
  for (int i = 0; i < 6; ++i) {
    table.row("Mul", 2, kNd).row("Gelu", 2, kNd).row("Add", 2, kNd).row("MatMul", 50, kNd);
  }
  const Finding one = finding_of(table.findings(), "fusible");
  EXPECT_THAT(one.evidence[0].text, HasSubstr("6 times Mul Gelu Add; gelu and add"));
  EXPECT_EQ(one.evidence[0].at.line, 2);
}

TEST(Findings, IdleTimeCountsFromItsShareOn) {
  KernelTable table;
  table.row("Add", 100, kNd).row("Mul", 5, kNd);
  EXPECT_THAT(rules_of(table.findings()), Not(Contains("idle")));
  table.pause(40).row("Add", 5, kNd);
  EXPECT_THAT(finding_of(table.findings(), "idle").evidence[0].text,
              HasSubstr("41.000 us idle in front of Add"));
}

// The table has no start times, so idle time is unknown.
TEST(Findings, WaitsCountFromTheirShareOn) {
  const IngestResult profile = ingest_text(
      "Name,Type,Accelerator Core,Duration(us),Wait Time(us)\na,Add,AI_CORE,100,0\n"
      "a,Add,AI_CORE,5,40\n");
  EXPECT_THAT(finding_of(found_in(profile), "wait").evidence[0].text,
              HasSubstr("40.000 us in front of Add"));
}

TEST(Findings, OperatorsThatStillCompileAreNamed) {
  const Finding one =
      finding_of(found_in(ingest_samples({"host_logs/nohup_recompile_old.out"})), "recompile");
  EXPECT_EQ(one.what, "8 operators still compile after step 3");
  EXPECT_EQ(one.evidence[0].text, "NonZero in 3 steps");
}

}  // namespace
}  // namespace opbench
