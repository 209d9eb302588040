#include "cli/said_why.h"

#include <gtest/gtest.h>

#include <sstream>

#include "cli/cli.h"
#include "text/program.h"

namespace opbench {
namespace {

bool is_complaint(const std::string& text) {
  std::ostringstream stream;
  const ComplaintWatch watch(stream);
  stream << text.substr(0, text.size() / 2) << text.substr(text.size() / 2) << std::flush;
  EXPECT_EQ(stream.str(), text);
  return watch.has_seen_one();
}

}  // namespace

TEST(ComplaintWatch, FindsALineThatBeginsWithTheProgramsName) {
  EXPECT_TRUE(is_complaint("opbench: x"));
  EXPECT_TRUE(is_complaint("[1/2] relu\nopbench: x\n"));
  EXPECT_TRUE(is_complaint("\r\033[K[1/2] relu\r\033[Kopbench: x\n")) << "progress is overwritten";
  EXPECT_FALSE(is_complaint("[1/2] relu\n"));
  EXPECT_FALSE(is_complaint("see opbench: x\n"));
  EXPECT_FALSE(is_complaint("opbench"));
}

TEST(ComplaintWatch, PassesEverythingOnAndGivesTheStreamBack) {
  std::ostringstream stream;
  {
    const ComplaintWatch watch(stream);
    stream << "one " << 2 << '\n' << std::flush;
  }
  stream << "three";
  EXPECT_EQ(stream.str(), "one 2\nthree");
}

TEST(ReasonOf, EveryCodeButTwoNeedsAWord) {
  for (const int code : {int{kAllWell}, int{kVerdictFailed}, kReaderGone}) {
    EXPECT_EQ(reason_of(code), "") << code;
  }
  for (const int code : {kBadInput, kCouldNotFinish, kNothingToJudge, kTooNoisy}) {
    EXPECT_NE(reason_of(code), "") << code;
  }
}

}  // namespace opbench
