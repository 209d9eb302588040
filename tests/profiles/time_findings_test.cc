// Findings about time in which nothing computes.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/profiles/finding_rows.h"

namespace opbench {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<Finding> of_time(const std::string& text) {
  return found_by(find_what_does_not_compute, ingest_text(text));
}

// Computing takes 60 us, communication 40 us. Without start times the overlap is unknown.
TEST(Communication, WithoutAStepIsAShareOfAllTimes) {
  const std::vector<Finding> found = found_by(
      find_what_does_not_compute,
      ingest_text(kNoStarts + task_row("Add", 60) + task_row("hcom_allReduce_", 40, "HCCL")));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].rule, "communication");
  EXPECT_EQ(found[0].what, "communication takes 40.0 % of all times; the overlap is not known");
  EXPECT_NEAR(found[0].share, 0.4, 1e-12);
  EXPECT_FALSE(found[0].step_share);
  ASSERT_THAT(found[0].evidence, SizeIs(1));
  EXPECT_EQ(found[0].evidence[0].text, "40.000 us hcom_allReduce_");
}

// Computing runs from 0 to 60 and from 90 to 100, communication from 40 to 80. Of 100 us
// communication runs for 40, 20 of them alone. Nothing runs from 80 to 90.
TEST(Communication, OfAStepIsWhatDoesNotOverlap) {
  const std::vector<Finding> found = found_by(
      find_what_does_not_compute,
      ingest_text(kStarts + std::string("Add,Add,AI_CORE,1000,60\n") +
                  "hcom_allReduce_,hcom_allReduce_,HCCL,1040,40\nMul,Mul,AI_CORE,1090,10\n"));
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].rule, "communication");
  EXPECT_EQ(found[0].what, "communication runs for 40.0 % of the profile, for 20.0 % alone");
  EXPECT_NEAR(found[0].step_share.value_or(0), 0.2, 1e-12);
  EXPECT_EQ(found[1].rule, "idle");
  EXPECT_EQ(found[1].what, "nothing runs on the device for 10.0 % of the profile");
  EXPECT_NEAR(found[1].step_share.value_or(0), 0.1, 1e-12);
  ASSERT_THAT(found[1].evidence, SizeIs(1));
  EXPECT_EQ(found[1].evidence[0].text, "10.000 us idle in front of Mul");
}

// The rule needs more than 10 us. A wait of 10.1 us has a share of 10.1 / (300 + 10.1 + 5) = 3.2 %.
TEST(Waits, CountOnlyLongOnes) {
  const auto found = [](const std::string& wait) {
    return found_by(find_what_does_not_compute,
                    ingest_text("Name,Type,Accelerator Core,Duration(us),Wait Time(us)\n"
                                "a,Add,AI_CORE,100,5\nb,Mul,AI_CORE,200," +
                                wait + "\n"));
  };
  EXPECT_THAT(found("10"), IsEmpty());
  const std::vector<Finding> one = found("10.1");
  ASSERT_THAT(one, SizeIs(1));
  EXPECT_EQ(one[0].what, "1 waits of more than 10 us are 3.2 % of durations and waits");
  EXPECT_NEAR(one[0].share, 10.1 / 315.1, 1e-9);
  ASSERT_THAT(one[0].evidence, SizeIs(2));
  EXPECT_EQ(one[0].evidence[0].text, "10.100 us in front of Mul");
  EXPECT_EQ(one[0].evidence[1].text, "5.000 us in front of Add");
}

// 11 of 390 + 11 us are 2.7 %, which is below the 3 % of the rule.
TEST(Waits, CountFromTheirShareOn) {
  EXPECT_THAT(found_by(find_what_does_not_compute,
                       ingest_text("Name,Type,Accelerator Core,Duration(us),Wait Time(us)\n"
                                   "a,Add,AI_CORE,100,0\nb,Mul,AI_CORE,290,11\n")),
              IsEmpty());
}

// Nothing computes from 10 to 90, since Mul waits for all of the first communication. The second
// one goes on, and the third overlaps.
TEST(Communication, NamesTheTaskThatWaits) {
  const std::vector<Finding> found =
      of_time(kStarts + std::string("Add,Add,AI_CORE,1000,10\n") +
              "hcom_allReduce_1,hcom,HCCL,1010,80\nMul,Mul,AI_CORE,1091,9\n"
              "hcom_allReduce_2,hcom,HCCL,1100,30\nSub,Sub,AI_CORE,1110,10\n"
              "hcom_allReduce_3,hcom,HCCL,1112,5\n");
  const std::vector<Evidence>& evidence = found.at(0).evidence;
  ASSERT_THAT(evidence, SizeIs(4));
  EXPECT_EQ(evidence[0].text, "80.000 us hcom_allReduce_1");
  EXPECT_EQ(evidence[1].text, "Mul waits 80.000 us for it");
  EXPECT_EQ(evidence[1].at.line, 4);
  EXPECT_EQ(evidence[2].text, "30.000 us hcom_allReduce_2");
  EXPECT_EQ(evidence[3].text, "5.000 us hcom_allReduce_3");
}

// Source of 65.65 ms: the column Wait Time of line 179, which has the host's part too.
TEST(Communication, OfTheSampleDelaysTensorMove) {
  const IngestResult profile = ingest_samples({"kernel_details/alexnet_level1_rank0.csv"});
  const Finding one = found_by(find_what_does_not_compute, profile).at(0);
  EXPECT_EQ(one.evidence.at(1).text, "TensorMove waits 65647.611 us for it");
  EXPECT_EQ(one.evidence.at(1).at.line, 179);
}

// The trace of MindSpore names communication by its path: 41534.3 of 47587.81 us.
TEST(Communication, OfAGraphHasAPath) {
  const IngestResult profile =
      ingest_samples({"traces/msprof_mindspore_alexnet_rank0_iter1.json.gz"});
  const Finding one = found_by(find_what_does_not_compute, profile).at(0);
  EXPECT_EQ(one.rule, "communication");
  EXPECT_NEAR(one.saves, 41534.3 / 47587.81, 1e-3);
  EXPECT_THAT(one.evidence.at(0).text, HasSubstr("41534.300 us Default/AllReduce-op534_0"));
}

// The step has 100 us. The device is busy from 0 to 10 and from 60 to 70. The host runs an operator
// from 0 to 30, compiles from 30 to 40, and loads data from 80 to 100.
TEST(Idle, IsDividedByWhatTheHostDoes) {
  const auto event = [](const char* category, const char* name, int start, int end) {
    return fmt::format(R"({{"ph":"X","cat":"{}","name":"{}","pid":1,"tid":1,"ts":{},"dur":{}}},)",
                       category, name, start, end - start);
  };
  const IngestResult profile = ingest_text(
      "[" + event("cpu_op", "ProfilerStep#1", 0, 100) + event("cpu_op", "aten::add", 0, 30) +
      event("cpu_op", "aclopCompileAndExecute", 30, 40) +
      event("cpu_op", "enumerate(DataLoader)#next", 80, 100) + event("kernel", "a", 0, 10) +
      event("kernel", "b", 60, 70));
  EXPECT_EQ(host_line(profile),
            "Host and device work: both 10.0 % of the step, only the host 30.0 %, only the device "
            "10.0 %, neither 50.0 %");
  const std::vector<Finding> found = find_remarks(profile, {});
  ASSERT_THAT(found, SizeIs(3));
  EXPECT_EQ(found[0].rule, "idle_both");
  EXPECT_NEAR(found[0].saves, 0.5, 1e-12);
  EXPECT_TRUE(found[0].is_warning);
  EXPECT_EQ(found[0].evidence.at(0).text, "20.0 % the host waits for its data loader");
  EXPECT_EQ(found[1].rule, "host_bound");
  EXPECT_NEAR(found[1].saves, 0.2, 1e-12);
  EXPECT_EQ(found[1].evidence.at(0).text, "20.000 us idle while the host runs aten::add, once");
  EXPECT_EQ(found[2].rule, "compile");
  EXPECT_NEAR(found[2].saves, 0.1, 1e-12);
}

}  // namespace
}  // namespace opbench
