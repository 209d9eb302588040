#include "profiles/finding_rules.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/profiles/finding_rows.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// A finding could save all of its share. The share of the step has precedence if it is known.
TEST(ProfileView, SavesAllOfAShare) {
  const IngestResult profile = ingest_text(kNoStarts + task_row("Add", 10));
  const ProfileView view(profile);
  EXPECT_FALSE(view.step());
  EXPECT_EQ(view.finding("trans_data", "", 0.3, std::nullopt).saves, 0.3);
  EXPECT_EQ(view.finding("trans_data", "", 0.3, 0.1).saves, 0.1);
  EXPECT_FALSE(view.finding("trans_data", "", 0.3, 0.1).estimate.empty());
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
  EXPECT_NEAR(one.saves, 0.3, 1e-12);
  // A half of 20 and all of 10 of 100 us.
  EXPECT_NEAR(view.finding("cast", "two", {mul, add}, {0.5}).saves, 0.2, 1e-12);
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
  EXPECT_THAT(one[0].evidence.at(0).text, HasSubstr("; INT64 is the cause"));
  EXPECT_THAT(found(20, "INT64;DT_COMPLEX64")[0].evidence.at(0).text,
              HasSubstr("; COMPLEX64 is the cause"));
  EXPECT_THAT(found(20, "FLOAT;FLOAT16")[0].evidence.at(0).text,
              HasSubstr("; no dtype explains it: AI Core has no such kernel"));
  // UINT64 contains "INT64" but is another dtype.
  EXPECT_THAT(found(20, "UINT64")[0].evidence.at(0).text, HasSubstr("; UINT64 is the cause"));
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
  ASSERT_THAT(found[0].evidence, SizeIs(2));
  EXPECT_EQ(found[0].evidence[0].text, "Add -> TransData -> Mul, 2 times in 20.000 us");
  EXPECT_EQ(found[0].evidence[1].text, "Mul -> TransData -> Add, once in 10.000 us");
}

}  // namespace
}  // namespace opbench
