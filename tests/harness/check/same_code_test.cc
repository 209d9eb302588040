#include "harness/check/same_code.h"

#include <gmock/gmock.h>

#include "tests/harness/check/scripted_build.h"
#include "tests/support/temp_dir.h"

namespace opbench::check {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SameProgram : public testing::Test, protected TempDir {
 protected:
  WorkerProgram program(const std::string& name, const std::string& bytes) const {
    WorkerProgram one;
    one.path = write(name, bytes);
    return one;
  }
};

class SameCode : public testing::Test {
 protected:
  SameCode() {
    const auto us = [](ScriptedSample) { return 100.0; };
    base_build_.add_case(kCase, us);
    current_build_.add_case(kCase, [](ScriptedSample) { return 7.0; });
    base_build_.code = current_build_.code = "00ff";
    compared_.spec = ScriptedBuild::listed_case(kCase);
    ComparedVariant& variant = compared_.variants.emplace_back();
    variant.item.variant = "v";
    variant.item.base_bits = variant.item.current_bits = "ab";
    variant.is_open = true;
  }

  const ComparedVariant& settled() {
    WorkerProgram base_program = base_build_.program(), current_program = current_build_.program();
    base_program.now_s = current_program.now_s = [this] { return clock_s_; };
    WorkerClient base(base_program), current(current_program);
    OpenRequest request;
    request.id = kCase;
    base.open(request);
    current.open(request);
    settle_same_code(compared_, base, current);
    return compared_.variants[0];
  }

  double clock_s_ = 0;
  std::string log_;
  ScriptedBuild base_build_{"base", clock_s_, log_}, current_build_{"current", clock_s_, log_};
  ComparedCase compared_;
};

}  // namespace

TEST_F(SameProgram, HasTheSameBytes) {
  const WorkerProgram one = program("one", "abc"), same = program("same", "abc");
  EXPECT_TRUE(is_same_program(one, one));
  EXPECT_TRUE(is_same_program(one, same));
  EXPECT_FALSE(is_same_program(one, program("other", "abd")));
  EXPECT_FALSE(is_same_program(one, program("longer", "abcd")));
}

// Other case files, or a file that is not a program.
TEST_F(SameProgram, ReadsTheSameCaseFiles) {
  const WorkerProgram one = program("one", "abc");
  WorkerProgram elsewhere = one, scripted = one;
  elsewhere.directory = "elsewhere";
  scripted.connect = [] { return Connection{}; };
  EXPECT_FALSE(is_same_program(one, elsewhere));
  EXPECT_FALSE(is_same_program(one, scripted));
  EXPECT_FALSE(is_same_program(scripted, one));
}

// One sample of the current build gives its weight in the network. The baseline is not sampled.
TEST_F(SameCode, OfTheSameBitsIsSettledAsTheSame) {
  const ComparedVariant& variant = settled();
  EXPECT_FALSE(variant.is_open);
  EXPECT_EQ(variant.item.verdict, ChangeVerdict::same);
  EXPECT_TRUE(variant.item.is_same_code);
  EXPECT_EQ(variant.item.same_code_us, 7);
  EXPECT_EQ(log_, "c");
}

TEST_F(SameCode, OfOtherBitsStaysOpen) {
  compared_.variants[0].item.base_bits = "ac";
  EXPECT_TRUE(settled().is_open);
  EXPECT_EQ(compared_.variants[0].code_unknown, "");
  EXPECT_EQ(log_, "");
}

TEST_F(SameCode, ThatDiffersStaysOpen) {
  base_build_.code = "00fe";
  EXPECT_TRUE(settled().is_open);
  EXPECT_EQ(compared_.variants[0].code_unknown, "");
}

// Without the bits of both, their inputs may differ.
TEST_F(SameCode, OfResultsThatWereNotVerifiedIsNotKnown) {
  compared_.variants[0].item.current_bits = "";
  EXPECT_TRUE(settled().is_open);
  EXPECT_EQ(compared_.variants[0].code_unknown,
            "without verification it is unknown if both have the same inputs");
}

TEST_F(SameCode, OfABuildThatCannotTellIsNotKnown) {
  base_build_.code = "";
  EXPECT_TRUE(settled().is_open);
  EXPECT_THAT(compared_.variants[0].code_unknown, HasSubstr("the baseline cannot report it ("));
}

TEST_F(SameCode, WhoseCallIsWrongStaysOpen) {
  ScriptedVariant bad = ScriptedBuild::passing("v", [](ScriptedSample) { return 7.0; });
  bad.wrong = [](ScriptedSample) { return std::string("a NaN"); };
  current_build_.add_case(ScriptedBuild::listed_case(kCase), {bad});
  EXPECT_TRUE(settled().is_open);
}

TEST_F(SameCode, ThatIsSettledAlreadyIsNotAskedFor) {
  compared_.variants[0].is_open = false;
  compared_.variants[0].item.verdict = ChangeVerdict::error;
  EXPECT_EQ(settled().item.verdict, ChangeVerdict::error);
  EXPECT_EQ(log_, "");
}

// Only items that are slower, or may be, have a note.
TEST(UnknownCode, IsNotedOfWhatLooksSlower) {
  const auto notices = [](ChangeVerdict verdict, bool is_unfinished, const std::string& why) {
    ComparedVariant variant;
    variant.code_unknown = why;
    CheckedItem item;
    item.verdict = verdict;
    item.is_unfinished = is_unfinished;
    note_unknown_code(variant, item);
    return item.notices;
  };
  EXPECT_THAT(notices(ChangeVerdict::slower, false, "it is old"),
              ElementsAre("it is unknown if its machine code changed: it is old"));
  EXPECT_THAT(notices(ChangeVerdict::ambiguous, true, "it is old"), testing::SizeIs(1));
  EXPECT_THAT(notices(ChangeVerdict::ambiguous, false, "it is old"), IsEmpty());
  EXPECT_THAT(notices(ChangeVerdict::same, true, "it is old"), IsEmpty());
  EXPECT_THAT(notices(ChangeVerdict::slower, false, ""), IsEmpty());
}

TEST(SameCodeNotice, CountsVariants) {
  std::vector<CheckedItem> items(3);
  std::vector<std::string> notices;
  note_same_code(items, notices);
  EXPECT_THAT(notices, IsEmpty());
  items[0].is_same_code = items[2].is_same_code = true;
  note_same_code(items, notices);
  EXPECT_THAT(notices, ElementsAre("2 of 3 run the same machine code in both builds with the same "
                                   "results; they were not timed"));
}

}  // namespace opbench::check
