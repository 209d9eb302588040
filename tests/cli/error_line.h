#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "tests/support/program.h"
#include "text/program.h"

namespace opbench {

/// Expects that standard error holds exactly one line, the program's, which contains `text`.
inline void expect_one_line_error(const Outcome& outcome, int code, const std::string& text) {
  EXPECT_EQ(outcome.code, code) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.err, testing::StartsWith("opbench: "));
  EXPECT_THAT(outcome.err, testing::HasSubstr(text));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

/// Expects that the command prints only that line.
inline void expect_refusal(const Outcome& outcome, const std::string& text) {
  EXPECT_EQ(outcome.out, "");
  expect_one_line_error(outcome, kBadInput, text);
}

}  // namespace opbench
