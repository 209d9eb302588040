#include "compare/witness_elements.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>

#include "harness/plan/case.h"
#include "tensor/elements.h"
#include "tests/support/non_finite.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Tensor tensor(DType dtype, const std::vector<double>& values) {
  Tensor made(describe(dtype, {std::ssize(values)}));
  from_doubles(dtype, values.data(), std::ssize(values), made.data());
  return made;
}

std::vector<std::int64_t> beyond(const ElementBound& bound, const std::vector<double>& expected,
                                 const std::vector<double>& recorded) {
  return elements_beyond(bound, tensor(DType::fp64, expected), tensor(DType::fp32, recorded));
}

}  // namespace

// The bound is 0.5 + 0.1 * |e|: 1.5 at 10, 2.5 at -20, on both sides.
TEST(WitnessElements, AreBeyondABoundAndAShare) {
  const ElementBound bound{0.5, 0.1};
  EXPECT_THAT(beyond(bound, {10, 10, 10, -20, -20, 0}, {11.5, 11.625, 8, -22.5, -17, 0.5}),
              ElementsAre(1, 2, 4));
}

// NaN and Inf are correct if they are expected. The sign of Inf must match.
TEST(WitnessElements, ThatAreNotFiniteAreRightWhereExpected) {
  const ElementBound bound{1e30, 0};
  EXPECT_THAT(
      beyond(bound, {kNan, kNan, 1, kInf, kInf, kInf, 1}, {kNan, 1, kNan, kInf, -kInf, 9, kInf}),
      ElementsAre(1, 2, 4, 5, 6));
}

// fp32 does not hold 1/3. Its nearest fp32 number is expected.
TEST(WitnessElements, AreExpectedAsTheDtypeHoldsThem) {
  const ElementBound none{};
  EXPECT_THAT(beyond(none, {1.0 / 3, 1e-60}, {1.0 / 3, 0}), IsEmpty());
  EXPECT_THAT(rounded_values(tensor(DType::fp64, {1.0 / 3, 70000}), DType::fp16),
              ElementsAre(0.333251953125, kInf));
  EXPECT_THAT(rounded_values(tensor(DType::fp32, {2.5}), DType::fp32), ElementsAre(2.5));
}

// Bits distinguish -0 from 0. A NaN may have any payload only if the operator leaves it open.
TEST(WitnessElements, OfExactOperatorsAreComparedByBits) {
  const Tensor expected = tensor(DType::fp32, {0, 1, kNan});
  Tensor recorded = tensor(DType::fp32, {-0.0, 1, kNan});
  const std::uint32_t other_nan = 0x7FC00001;
  std::memcpy(recorded.as<std::byte>() + 8, &other_nan, sizeof other_nan);
  EXPECT_THAT(elements_beyond({0, 0, true, false}, expected, recorded), ElementsAre(0, 2));
  EXPECT_THAT(elements_beyond({0, 0, true, true}, expected, recorded), ElementsAre(0));
}

TEST(WitnessElements, HaveTheBoundOfTheirOperator) {
  OutputFinding finding;
  finding.allowed = 0.25;
  finding.allowed_share = 0.5;
  const ElementBound sum = bound_of(problem_of(parse_case_id("softplus[4,fp32,ND]")), finding, 0);
  EXPECT_EQ(sum.allowed, 0.25);
  EXPECT_EQ(sum.share, 0.5);
  EXPECT_FALSE(sum.is_exact);
  EXPECT_TRUE(bound_of(problem_of(parse_case_id("transpose[4x2,fp32,ND,perm=[1,0]]")), finding, 0)
                  .is_exact);
}

// Texts are Python's: shortest, with a point. Whole numbers beyond 2^53 have all digits.
TEST(WitnessElements, AreWrittenSoThatTheyReadBack) {
  EXPECT_THAT(element_texts(tensor(DType::fp32, {1, 0.5, -0.0, kInf, -kInf, kNan})),
              ElementsAre("1.0", "0.5", "-0.0", "inf", "-inf", "nan"));
  EXPECT_THAT(element_texts(tensor(DType::fp64, {0.1, 1e300})), ElementsAre("0.1", "1e+300"));
  EXPECT_THAT(element_texts(tensor(DType::int32, {-7, 0})), ElementsAre("-7", "0"));
  Tensor large(describe(DType::int64, {1}));
  const std::int64_t number = 9007199254740993;  // 2^53 + 1, which fp64 does not hold
  std::memcpy(large.data(), &number, sizeof number);
  EXPECT_THAT(element_texts(large), ElementsAre("9007199254740993"));
}

// A number that ends at the 100th character is followed by a comma: 34 times "1, " without the last
// space.
TEST(WitnessElements, AreListedInLines) {
  EXPECT_EQ(number_list({"1", "2", "3"}, "  "), "1, 2, 3");
  EXPECT_EQ(number_list({}, "  "), "");
  const std::string text = number_list(std::vector<std::string>(40, "1"), "    ");
  const std::string first = text.substr(0, text.find('\n'));
  EXPECT_EQ(first.size(), 101U);
  EXPECT_EQ(first.back(), ',');
  EXPECT_EQ(text.substr(text.find('\n'), 6), "\n    1");
  EXPECT_EQ(std::count(text.begin(), text.end(), '1'), 40);
  EXPECT_EQ(shape_text({1, 4}), "[1, 4]");
  EXPECT_EQ(shape_text({}), "[]");
}

}  // namespace opbench
