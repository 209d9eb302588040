// Tests `find_misaligned`, `find_idle_cores`, `find_bounds` and `find_fusible` at their limits.
// Durations add up to 1000 us, so 10 us are the share of 1 % from which the rules report.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "profiles/finding_rules.h"
#include "tests/profiles/profiles.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kColumns =
    "Name,Type,Accelerator Core,Duration(us),Block Dim,Input Shapes,Input Data Types,Input Formats,"
    "Output Shapes,Output Data Types,Output Formats,mac_ratio,vec_ratio,mte2_ratio\n";

constexpr const char* kAligned = "\"16,16\",FLOAT,ND,\"16,16\",FLOAT,ND";

/// A row that fills up 1000 us. Its pipes are unknown, and no rule reports it.
std::string rest(double duration) {
  return fmt::format("n,Rest,AI_CORE,{},0,{},,,\n", 1000 - duration, kAligned);
}

/// One operator of `us`, and a row that fills up 1000 us.
IngestResult profile_of(double us, const std::string& core, int blocks, const std::string& tensors,
                        const std::string& pipes = ",,") {
  return ingest_text(kColumns +
                     fmt::format("n,One,{},{},{},{},{}\n", core, us, blocks, tensors, pipes) +
                     rest(us));
}

std::vector<std::string> texts_of(const std::vector<Finding>& found) {
  std::vector<std::string> all;
  for (const Finding& one : found) {
    for (const Evidence& evidence : one.evidence) {
      all.push_back(one.rule +
                    evidence.text.substr(std::min(evidence.text.size(), evidence.text.find("; "))));
    }
  }
  return all;
}

std::vector<std::string> misaligned(const std::string& tensors, double us = 10) {
  std::vector<Finding> found;
  const IngestResult profile = profile_of(us, "AI_CORE", 0, tensors);
  find_misaligned(ProfileView(profile), found);
  return texts_of(found);
}

std::vector<std::string> misaligned_input(const std::string& x) {
  return misaligned(x + ",\"16,16\",FLOAT,ND");
}

TEST(Misaligned, CountsFromOnePercentOn) {
  const std::string tensors = "\"2,3,4,4\",FLOAT,NCHW,\"16,16\",FLOAT,ND";
  EXPECT_THAT(misaligned(tensors, 10), ElementsAre("alignment; input 0: C = 3"));
  EXPECT_THAT(misaligned(tensors, 9.999), IsEmpty());
}

// 7 * 7 = 49 and 3 are not multiples of 16. A plane of 1 and 4 * 4 = 16 are aligned.
TEST(Misaligned, OfNchwAreChannelsAndPlanes) {
  EXPECT_THAT(misaligned_input("\"2,3,7,7\",FLOAT,NCHW"),
              ElementsAre("alignment; input 0: C = 3, H*W = 49"));
  EXPECT_THAT(misaligned_input("\"2,16,1,1\",FLOAT,NCHW"), IsEmpty());
  EXPECT_THAT(misaligned_input("\"2,32,4,4\",FLOAT,NCHW"), IsEmpty());
}

// Blocks of channels are padded, and the rows of 5HD are not checked.
TEST(Misaligned, OfBlocksArePlanes) {
  EXPECT_THAT(misaligned_input("\"2,1,4,4,8\",FLOAT,NC1HWC0"), IsEmpty());
  EXPECT_THAT(misaligned_input("\"2,1,3,5,16\",FLOAT,NC1HWC0"),
              ElementsAre("alignment; input 0: H*W = 15"));
}

// 32 bytes are 8 fp32, 16 fp16, 4 int64 or 32 int8. A vector and a last extent of 1 have no rows.
TEST(Misaligned, OfRowsAreBytes) {
  EXPECT_THAT(misaligned_input("\"4,8\",FLOAT,ND"), IsEmpty());
  EXPECT_THAT(misaligned_input("\"4,8\",FLOAT16,ND"),
              ElementsAre("alignment; input 0: rows of 16 bytes"));
  EXPECT_THAT(misaligned_input("\"4,4\",INT64,ND"), IsEmpty());
  EXPECT_THAT(misaligned_input("\"4,3\",DOUBLE,ND"),
              ElementsAre("alignment; input 0: rows of 24 bytes"));
  EXPECT_THAT(misaligned_input("\"4,31\",INT8,ND"),
              ElementsAre("alignment; input 0: rows of 31 bytes"));
  EXPECT_THAT(misaligned_input("\"4,33\",DT_BOOL,ND"),
              ElementsAre("alignment; input 0: rows of 33 bytes"));
  EXPECT_THAT(misaligned_input("7,FLOAT,ND"), IsEmpty());
  EXPECT_THAT(misaligned_input("\"7,1\",FLOAT,ND"), IsEmpty());
}

TEST(Misaligned, NamesTheFirstTensor) {
  EXPECT_THAT(misaligned("\"16,16;4,9;4,7\",FLOAT;FLOAT;FLOAT,ND;ND;ND,\"4,3\",FLOAT,ND"),
              ElementsAre("alignment; input 1: rows of 36 bytes"));
  EXPECT_THAT(misaligned("\"16,16\",FLOAT,ND,\"16,16;4,3\",FLOAT;FLOAT,ND;ND"),
              ElementsAre("alignment; output 1: rows of 12 bytes"));
  EXPECT_THAT(misaligned_input("\"4,x\",FLOAT,ND"), IsEmpty());
}

std::vector<std::string> idle(const std::string& core, int blocks, const CoreCounts& cores) {
  std::vector<Finding> found;
  const IngestResult profile = profile_of(10, core, blocks, kAligned);
  find_idle_cores(ProfileView(profile), cores, found);
  return texts_of(found);
}

// Whole rounds over all cores are full: 24 and 48 blocks on 24 cores. 23, 25 and 12 blocks are not.
TEST(IdleCores, AreThoseOfARoundThatIsNotFull) {
  const CoreCounts cores = {.cube = 24, .vector = 48};
  EXPECT_THAT(idle("AI_CORE", 24, cores), IsEmpty());
  EXPECT_THAT(idle("AI_CORE", 48, cores), IsEmpty());
  EXPECT_THAT(idle("AI_CORE", 25, cores), ElementsAre("block_dim; block dim 25 on 24 cores"));
  EXPECT_THAT(idle("MIX_AIC", 12, cores), ElementsAre("block_dim; block dim 12 on 24 cores"));
  EXPECT_THAT(idle("AI_VECTOR_CORE", 24, cores),
              ElementsAre("block_dim; block dim 24 on 48 cores"));
  EXPECT_THAT(idle("MIX_AIV", 48, cores), IsEmpty());
}

TEST(IdleCores, AreNotKnownWithoutCoresOrBlocks) {
  EXPECT_THAT(idle("AI_CORE", 5, {}), IsEmpty());
  EXPECT_THAT(idle("AI_CPU", 5, {.cube = 24, .vector = 48}), IsEmpty());
  EXPECT_THAT(idle("AI_CORE", 0, {.cube = 24, .vector = 48}), IsEmpty());
}

std::vector<std::string> bounds(double us, const std::string& pipes) {
  std::vector<Finding> found;
  const IngestResult profile = profile_of(us, "AI_CORE", 0, kAligned, pipes);
  find_bounds(ProfileView(profile), found);
  return texts_of(found);
}

// The pipes are mac, vec and mte2. The limit is 0.8 for both bounds.
TEST(Bounds, AreOfTheBusiestPipe) {
  EXPECT_THAT(bounds(30, "0.1,0.2,0.8"), ElementsAre("memory_bound; mte2 is busy for 80 % of it"));
  EXPECT_THAT(bounds(30, "0.1,0.8,0.7"), ElementsAre("compute_bound; vec is busy for 80 % of it"));
  EXPECT_THAT(bounds(30, "0.95,0.9,"), ElementsAre("compute_bound; mac is busy for 95 % of it"));
  EXPECT_THAT(bounds(30, "0.9,0.1,0.9"), ElementsAre("memory_bound; mte2 is busy for 90 % of it"));
  EXPECT_THAT(bounds(30, ",,"), IsEmpty());
}

// An operator below the limit is reported if its calls exceed 20 us.
TEST(Bounds, OfNoPipeNeedALongCall) {
  EXPECT_THAT(bounds(30, "0.1,0.2,0.79"), ElementsAre("no_bound; mte2 is busy for 79 % of it"));
  EXPECT_THAT(bounds(20, "0.1,0.2,0.79"), IsEmpty());
  EXPECT_THAT(bounds(20.001, "0.1,0.2,0.79"), SizeIs(1));
}

TEST(Bounds, CountFromOnePercentOn) {
  EXPECT_THAT(bounds(10, "0.1,0.2,0.9"), SizeIs(1));
  EXPECT_THAT(bounds(9.999, "0.1,0.2,0.9"), IsEmpty());
}

/// Repeats Gelu and Add of 2 us each with a gap between them, and then a MatMul of 26 us, `times`
/// times.
std::vector<Finding> fusible(int times, int gap_us) {
  std::string text = "Name,Type,Accelerator Core,Start Time(us),Duration(us)\n";
  int start = 0;
  const auto add = [&](const std::string& type, int us, int pause) {
    text += fmt::format("{0},{0},AI_CORE,{1},{2}\n", type, start, us);
    start += us + pause;
  };
  for (int i = 0; i < times; ++i) {
    add("Gelu", 2, gap_us);
    add("Add", 2, 1);
    add("MatMul", 26, 1);
  }
  std::vector<Finding> found;
  const IngestResult profile = ingest_text(text);
  find_fusible(ProfileView(profile), found);
  return found;
}

// 6 times 4 of 30 us are 13.3 %. The rule needs more than 5 repetitions.
TEST(Fusible, RowsComeMoreThanFiveTimes) {
  EXPECT_THAT(fusible(5, 1), IsEmpty());
  const std::vector<Finding> found = fusible(6, 1);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].what, "1 row of small operators, 13.3 % of the device time, may be fused");
  EXPECT_NEAR(found[0].share, 4.0 / 30, 1e-12);
  ASSERT_THAT(found[0].evidence, SizeIs(1));
  EXPECT_THAT(found[0].evidence[0].text, testing::EndsWith(" 6 times Gelu Add; gelu and add"));
  EXPECT_EQ(found[0].evidence[0].at.line, 2);
}

// 4 us of work in 4 + 7 = 11 us are 36 %, which is below 40 %. In 4 + 6 = 10 us they are 40 %.
TEST(Fusible, RowsWithPausesWaitForTheHost) {
  EXPECT_THAT(fusible(6, 7).at(0).evidence.at(0).text,
              testing::EndsWith("; the host is slower: busy for 36 % of its time"));
  EXPECT_THAT(fusible(6, 6).at(0).evidence.at(0).text, testing::EndsWith("gelu and add"));
}

}  // namespace
}  // namespace opbench
