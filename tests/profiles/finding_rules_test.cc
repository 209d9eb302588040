#include "profiles/finding_rules.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/profiles/profiles.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kNoStarts = "Name,Type,Accelerator Core,Duration(us),Input Data Types\n";
constexpr const char* kStarts = "Name,Type,Accelerator Core,Start Time(us),Duration(us)\n";

std::string task_row(const std::string& type, double us, const std::string& core = "AI_CORE",
                     const std::string& dtypes = "FLOAT") {
  return fmt::format("{0},{0},{1},{2},{3}\n", type, core, us, dtypes);
}

template <class Rule>
std::vector<Finding> found_by(Rule rule, const IngestResult& profile) {
  std::vector<Finding> found;
  rule(ProfileView(profile), found);
  return found;
}

// Without steps the share of the device time decides. trans_data warns from 0.15 on.
TEST(ProfileView, WarnsFromTheSharesOfItsRuleOn) {
  const IngestResult profile = ingest_text(kNoStarts + task_row("Add", 10));
  const ProfileView view(profile);
  EXPECT_FALSE(view.step());
  EXPECT_FALSE(view.finding("trans_data", "", 0.149, std::nullopt).is_warning);
  EXPECT_TRUE(view.finding("trans_data", "", 0.15, std::nullopt).is_warning);
  // The share of the step has precedence if it is known.
  EXPECT_FALSE(view.finding("trans_data", "", 0.5, 0.149).is_warning);
  EXPECT_TRUE(view.finding("trans_data", "", 0, 0.15).is_warning);
  // This rule states no warning.
  EXPECT_FALSE(view.finding("alignment", "", 1, 1).is_warning);
}

// The times are 10, 20 and 70 of 100 us. The finding of the first two has 30 %, and its evidence
// has the stated order.
TEST(ProfileView, SumsSharesOfOperators) {
  const IngestResult profile =
      ingest_text(kNoStarts + task_row("Add", 10) + task_row("Mul", 20) + task_row("MatMul", 70));
  const ProfileView view(profile);
  ASSERT_THAT(view.operators(), SizeIs(3));
  const HotOperator *mul = view.by_id(1), *add = view.by_id(0);
  ASSERT_TRUE(mul != nullptr && add != nullptr);
  EXPECT_EQ(mul->type, "Mul");
  EXPECT_NEAR(view.share(*mul), 0.2, 1e-12);
  const Finding one = view.finding("cast", "two", {mul, add});
  EXPECT_EQ(one.rule, "cast");
  EXPECT_NEAR(one.share, 0.3, 1e-12);
  EXPECT_FALSE(one.step_share);
  ASSERT_THAT(one.evidence, SizeIs(2));
  EXPECT_THAT(one.evidence[0].text, HasSubstr("20.0 % Mul"));
  EXPECT_EQ(one.evidence[0].at.line, 3);
  EXPECT_EQ(view.by_id(3), nullptr);
  EXPECT_EQ(view.type_by_id(99), nullptr);
}

TEST(ProfileView, HasFivePiecesOfEvidence) {
  std::string text = kNoStarts;
  for (int i = 0; i < 7; ++i) text += task_row("Op" + std::to_string(i), 10);
  const IngestResult profile = ingest_text(text);
  const ProfileView view(profile);
  std::vector<const HotOperator*> all;
  for (const HotOperator& one : view.operators()) all.push_back(&one);
  const Finding finding = view.finding("cast", "", all);
  EXPECT_THAT(finding.evidence, SizeIs(kMostEvidence));
  EXPECT_NEAR(finding.share, 1, 1e-12);
}

TEST(ProfileView, TellsCounts) {
  EXPECT_EQ(times_text(1), "once");
  EXPECT_EQ(times_text(0), "0 times");
  EXPECT_EQ(times_text(12), "12 times");
}

// Casts take 4.9 and 5 us of 100. The rule begins at 5 %.
TEST(Conversions, CountFromTheirShareOn) {
  const auto found = [](double us) {
    return found_by(find_conversions,
                    ingest_text(kNoStarts + task_row("Cast", us) + task_row("Add", 100 - us)));
  };
  EXPECT_THAT(found(4.9), IsEmpty());
  const std::vector<Finding> casts = found(5);
  ASSERT_THAT(casts, SizeIs(1));
  EXPECT_EQ(casts[0].rule, "cast");
  EXPECT_EQ(casts[0].what, "1 Cast takes 5.0 % of the device time");
}

// Transposes and copies are one finding: 2 + 3 of 100 us. The rule begins at 3 %.
TEST(Conversions, AddUpCopiesAndTransposes) {
  const std::vector<Finding> found =
      found_by(find_conversions, ingest_text(kNoStarts + task_row("Transpose", 2) +
                                             task_row("ViewCopy", 3) + task_row("Add", 95)));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].rule, "copies");
  EXPECT_EQ(found[0].what, "2 copies and transposes take 5.0 % of the device time");
}

// The first matching dtype of the rule's list is named: COMPLEX64 is before INT64.
TEST(AiCpu, NamesADtypeThatExplainsIt) {
  const auto found = [](double us, const std::string& dtypes) {
    return found_by(find_aicpu, ingest_text(kNoStarts + task_row("Sort", us, "AI_CPU", dtypes) +
                                            task_row("Add", 100 - us)));
  };
  EXPECT_THAT(found(19.9, "INT64"), IsEmpty());
  const std::vector<Finding> one = found(20, "INT64");
  ASSERT_THAT(one, SizeIs(1));
  EXPECT_EQ(one[0].what, "1 task runs on AI_CPU, 20.0 % of the device time");
  EXPECT_TRUE(one[0].is_warning);
  EXPECT_THAT(one[0].evidence.at(0).text, HasSubstr("; INT64 is the cause"));
  EXPECT_THAT(found(20, "INT64;DT_COMPLEX64")[0].evidence.at(0).text,
              HasSubstr("; COMPLEX64 is the cause"));
  EXPECT_THAT(found(20, "FLOAT;FLOAT16")[0].evidence.at(0).text,
              HasSubstr("; no dtype explains it: AI Core has no such kernel"));
  // UINT64 contains "INT64" but is another dtype.
  EXPECT_THAT(found(20, "UINT64")[0].evidence.at(0).text, HasSubstr("; UINT64 is the cause"));
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
  EXPECT_TRUE(found[0].is_warning);
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
  EXPECT_TRUE(found[0].is_warning);
  EXPECT_EQ(found[1].rule, "idle");
  EXPECT_EQ(found[1].what, "nothing runs on the device for 10.0 % of the profile");
  EXPECT_NEAR(found[1].step_share.value_or(0), 0.1, 1e-12);
  EXPECT_FALSE(found[1].is_warning);
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

// Conversions run twice between Add and Mul, once between Mul and Add: 3 of 8 tasks of 10 us.
TEST(Conversions, AreTiedToWhatStandsAround) {
  std::string text = kStarts;
  int start = 1000;
  for (const char* type :
       {"Add", "TransData", "Mul", "Add", "TransData", "Mul", "TransData", "Add"}) {
    text += fmt::format("{0},{0},AI_CORE,{1},10\n", type, start);
    start += 10;
  }
  const std::vector<Finding> found = found_by(find_conversions, ingest_text(text));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].what, "3 TransData take 37.5 % of the device time");
  EXPECT_TRUE(found[0].is_warning);
  ASSERT_THAT(found[0].evidence, SizeIs(2));
  EXPECT_EQ(found[0].evidence[0].text, "Add -> TransData -> Mul, 2 times in 20.000 us");
  EXPECT_EQ(found[0].evidence[1].text, "Mul -> TransData -> Add, once in 10.000 us");
}

}  // namespace
}  // namespace opbench
