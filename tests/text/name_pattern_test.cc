#include "text/name_pattern.h"

#include <gtest/gtest.h>

#include "tensor/error.h"
#include "tests/support/refusal.h"

namespace opbench {
namespace {

std::string pattern_refusal(const std::string& pattern) {
  return refusal_by([&] { name_pattern(pattern, "--only"); });
}

}  // namespace

TEST(NamePattern, IsFoundAnywhere) {
  EXPECT_TRUE(name_pattern("Norm", "--only")("LayerNormBackward"));
  EXPECT_FALSE(name_pattern("^Norm", "--only")("LayerNorm"));
  EXPECT_TRUE(name_pattern("^(Add|Mul)$", "--only")("Mul"));
  EXPECT_FALSE(name_pattern("norm", "--only")("Norm")) << "letters count as they are";
  EXPECT_TRUE(name_pattern("", "--only")(""));
}

TEST(NamePattern, IsAnExpressionAndBounded) {
  EXPECT_EQ(pattern_refusal(std::string(4096, 'a')), "accepted");
  EXPECT_EQ(pattern_refusal(std::string(4097, 'a')),
            "--only has 4097 characters; at most 4096 are allowed");
  EXPECT_EQ(pattern_refusal("[").find("--only '[' is not a regular expression: "), 0u);
  EXPECT_EQ(pattern_refusal("(?=a)"),
            "--only '(?=a)' is not a regular expression: invalid perl operator: (?=");
}

// Long names and nested repetitions must not exhaust a matcher's stack or time. A backtracking
// matcher needs minutes for the second of these.
TEST(NamePattern, HostileNamesAndPatternsEnd) {
  EXPECT_FALSE(name_pattern("(a*)*b", "--only")(std::string(3000, 'a')));
  EXPECT_FALSE(name_pattern("(.*a){12}b", "--only")(std::string(3000, 'a')));
  std::string name(1 << 20, 'a');
  name.back() = 'b';
  EXPECT_TRUE(name_pattern("b$", "--only")(name));
}

}  // namespace opbench
