#include "harness/run/kernel_run.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "harness/plan/reference_kernel.h"
#include "tests/harness/run/float_elements.h"

namespace opbench {
namespace {

using testing::Each;
using testing::ElementsAre;

/// The only input of a case, with corner values of a range.
std::vector<float> with_corners(const std::string& case_text, std::optional<InputRange> range) {
  const Case c = parse_case_id(case_text);
  return numbers(elements_of(c, problem_of(c), 3, range).at(0));
}

std::size_t count_not_finite(const std::vector<float>& values) {
  return static_cast<std::size_t>(
      std::count_if(values.begin(), values.end(), [](float x) { return !std::isfinite(x); }));
}

bool is_subnormal(float x) { return x != 0 && std::fabs(x) < 0x1p-126F; }

}  // namespace

// 64 bytes behind the start of a page, with 0x5A before and after it.
TEST(PlacedTensor, LiesWhereItIsAskedFor) {
  const TensorDesc desc = describe(DType::fp32, {5});
  const PlacedTensor tensor(desc, 64, 0x5A, 0x11);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.data()) % 4096, 64U);
  const auto* bytes = static_cast<const unsigned char*>(tensor.data());
  EXPECT_THAT(std::vector<unsigned char>(bytes - 64, bytes), Each(0x5A));
  EXPECT_THAT(std::vector<unsigned char>(bytes, bytes + 20), Each(0x11));
  EXPECT_THAT(std::vector<unsigned char>(bytes + 20, bytes + 84), Each(0x5A));
}

// 3 channels in a block of 16 lanes: elements do not include padding.
TEST(PlacedTensor, HasItsElementsWithoutPadding) {
  const TensorDesc desc = describe(DType::fp32, {1, 3, 1, 2}, Format::NC1HWC0);
  ASSERT_EQ(desc.bytes(), 2 * 16 * sizeof(float));
  const PlacedTensor tensor(desc, 0, 0, 0);
  tensor.write(stored({1, 2, 3, 4, 5, 6}));
  EXPECT_THAT(numbers(tensor.elements()), ElementsAre(1, 2, 3, 4, 5, 6));
  const auto* lanes = static_cast<const float*>(tensor.data());
  EXPECT_THAT(std::vector<float>(lanes, lanes + 4), ElementsAre(1, 3, 5, 0)) << "h, w = 0, 0";
}

TEST(KernelRun, ComputesOnTheGivenValues) {
  const Problem problem = problem_of(parse_case_id("relu[4,fp32,ND]"));
  const std::vector<Elements> results =
      run_kernel_on(reference_kernel(), problem, {stored({-1, 2, -3, 4})}, {});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_THAT(numbers(results[0]), ElementsAre(0, 2, 0, 4));
}

// An output that a kernel does not write keeps its former contents.
TEST(KernelRun, OutputsBeginAsTheSurroundingsSay) {
  Kernel lazy = reference_kernel();
  lazy.prepare = [](const Problem&) -> Launch { return [](const KernelArgs&) {}; };
  const Problem problem = problem_of(parse_case_id("relu[2,fp32,ND]"));
  const auto results = run_kernel_on(lazy, problem, {stored({1, 2})}, {.before = 0x3F});
  float pattern = 0;
  std::memset(&pattern, 0x3F, sizeof pattern);
  EXPECT_THAT(numbers(results.at(0)), Each(pattern));
}

// Every third element from the first on is a corner, at most a quarter of all. The other elements
// are those without corners.
TEST(KernelRun, CornersStandBesideOtherValues) {
  const std::vector<float> plain = with_corners("relu[400,fp32,ND]", std::nullopt);
  const std::vector<float> any = with_corners("relu[400,fp32,ND]", InputRange::any);
  EXPECT_EQ(count_not_finite(plain), 0U);
  EXPECT_GE(count_not_finite(any), 3U) << "NaN and both infinities";
  std::size_t changed = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const bool is_same = std::memcmp(&plain[i], &any[i], sizeof(float)) == 0;
    changed += is_same ? 0 : 1;
    EXPECT_TRUE(is_same || i % 3 == 0) << i;
  }
  EXPECT_GE(changed, 3U);
  EXPECT_LE(changed, 100U);
}

TEST(KernelRun, CornersAreInTheRangeThatAKernelAnswersFor) {
  const std::vector<float> finite = with_corners("relu[400,fp32,ND]", InputRange::finite);
  EXPECT_EQ(count_not_finite(finite), 0U);
  EXPECT_TRUE(std::any_of(finite.begin(), finite.end(), is_subnormal));
  const std::vector<float> normal = with_corners("relu[400,fp32,ND]", InputRange::normal);
  EXPECT_EQ(count_not_finite(normal), 0U);
  EXPECT_FALSE(std::any_of(normal.begin(), normal.end(), is_subnormal));
}

// An infinity or 3e38 would dominate a sum, so its terms are at most 128.
TEST(KernelRun, CornersDoNotDrownASum) {
  const std::vector<float> terms = with_corners("sum[20x20,fp32,ND]", InputRange::any);
  EXPECT_EQ(count_not_finite(terms), 0U);
  EXPECT_TRUE(std::all_of(terms.begin(), terms.end(), [](float x) { return std::fabs(x) <= 128; }));
}

}  // namespace opbench
