// Messages of a host log: errors, and misses of the cache of compiled operators.
#include <gmock/gmock.h>

#include "profiles/finding_rules.h"
#include "tests/profiles/profiles.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

constexpr const char* kPlace =
    "(27441,python3.7):2023-01-09-11:04:28.123.613 [some_file.cc:42]27441 ";

std::string error(const std::string& module, const std::string& message) {
  return "[ERROR] " + module + kPlace + message + "\n";
}

std::string miss(const std::string& op, const std::string& shape) {
  return std::string("[WARNING] ASCENDCL") + kPlace +
         "Get: Match op inputs failed. opType = " + op + ", inputDesc = " + shape + "\n";
}

std::vector<Finding> found_in(const std::string& text) {
  const IngestResult result = ingest_text(text);
  std::vector<Finding> found;
  find_log_problems(ProfileView(result), result.logs, found);
  return found;
}

TEST(LogProblem, NamesTheOperator) {
  const auto problem =
      parse_problem(error("FE", "Check: Op TopKD is not supported by AIcoreEngine"));
  ASSERT_TRUE(problem);
  EXPECT_TRUE(problem->is_error);
  EXPECT_EQ(problem->op, "TopKD");
  EXPECT_EQ(problem->text, "Check: Op TopKD is not supported by AIcoreEngine");
  const auto type =
      parse_problem("[INFO] ASCENDCL" + std::string(kPlace) + "Match op type failed. opType = Add");
  ASSERT_TRUE(type);
  EXPECT_FALSE(type->is_error);
  EXPECT_EQ(type->op, "Add");
}

// Other programs write [ERROR], too. A failed match may be part of a sentence.
TEST(LogProblem, IsALineOfTheHostLog) {
  EXPECT_FALSE(parse_problem("[ERROR] my_script.py: no data"));
  EXPECT_FALSE(parse_problem("Match op inputs failed. opType = Add"));
  EXPECT_FALSE(parse_problem("[INFO] Match op found. Nothing failed"));
  EXPECT_FALSE(has_log_problem("a\n\n[b"));
  EXPECT_TRUE(has_log_problem("a\n" + error("GE", "x") + "b"));
}

TEST(LogProblem, OfOneKindIsOneFindingWithTheAdviceOfTheGuide) {
  const std::vector<Finding> found =
      found_in(error("FE", "Op TopKD: dtype is unsupported, node 7") +
               error("FE", "Op TopKD: dtype is unsupported, node 12") +
               error("GE", "The number of attrs in op desc and op store does not match.") +
               error("RUNTIME", "out of memory"));
  ASSERT_THAT(found, SizeIs(3));
  EXPECT_EQ(found[0].rule, "unsupported");
  EXPECT_THAT(found[0].what, StartsWith("2 errors in the host log"));
  EXPECT_THAT(found[0].evidence, SizeIs(1));
  EXPECT_THAT(found[0].evidence[0].text, StartsWith("TopKD, 2 times: "));
  EXPECT_EQ(found[0].evidence[0].at.line, 1);
  EXPECT_THAT(found[0].advice, HasSubstr("cast to int32"));
  EXPECT_EQ(found[1].rule, "mismatch");
  EXPECT_EQ(found[2].rule, "host_error");
  EXPECT_TRUE(found[2].is_warning);
}

// With marks, what misses after the third step is late. Without marks, every first call misses.
TEST(LogProblem, MissesOfTheCacheAreDynamicShapes) {
  std::string marked;
  for (int step = 0; step < 6; ++step) {
    marked += miss("Add", std::to_string(step)) + "=====iter" + std::to_string(step) + "\n";
    if (step == 0) marked += miss("Relu", "8");
  }
  const std::vector<Finding> found = found_in(marked);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].rule, "cache_miss");
  EXPECT_EQ(found[0].evidence[0].text.substr(0, 13), "Add, 2 times:");
  const std::string three = miss("Add", "1") + miss("Add", "2") + miss("Add", "3");
  EXPECT_THAT(found_in(three), IsEmpty());
  EXPECT_THAT(found_in(three + miss("Add", "4")), SizeIs(1));
}

}  // namespace
}  // namespace opbench
