#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/evaluate.h"
#include "tests/support.h"
#include "tests/support/non_finite.h"

namespace opbench {
namespace {

constexpr const char* kChecks[] = {"native", "non_finite_check"};

// The flag that the reference and every variant return. They must agree.
double flag(DType dtype, const std::vector<std::vector<double>>& inputs, bool saturate = false) {
  const AttrTexts attrs = {{"saturate", saturate ? "true" : "false"}};
  const double expected = reference_values("non_finite_check", dtype, inputs, attrs).at(0);
  for (const char* variant : kChecks) {
    EXPECT_EQ(kernel_values("non_finite_check", variant, dtype, inputs, attrs).at(0), expected)
        << variant << ' ' << name(dtype);
  }
  return expected;
}

double largest(DType dtype) {
  if (dtype == DType::fp16) return 65504;  // IEEE 754: (2 - 2^-10) * 2^15
  return dtype == DType::bf16 ? 255 * 0x1p120 : double(std::numeric_limits<float>::max());
}

// The number one step below the largest, with 11, 8 and 24 bits of significand.
double below_largest(DType dtype) {
  if (dtype == DType::fp16) return 65472;
  return dtype == DType::bf16 ? 254 * 0x1p120
                              : double(std::nextafter(std::numeric_limits<float>::max(), 0.0f));
}

TEST(NonFiniteCheck, FindsInfAndNaN) {
  for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
    EXPECT_EQ(flag(dtype, {{0, -1, 2}}), 0);
    EXPECT_EQ(flag(dtype, {{0, kInf, 2}}), 1);
    EXPECT_EQ(flag(dtype, {{-kInf}}), 1);
    EXPECT_EQ(flag(dtype, {{1, kNan}}), 1);
    EXPECT_EQ(flag(dtype, {{1, -kNan}}), 1);
    EXPECT_EQ(flag(dtype, {{largest(dtype), -largest(dtype)}}), 0) << "finite";
    EXPECT_EQ(flag(dtype, {{}}), 0);
  }
}

TEST(NonFiniteCheck, CountsTheLargestValueWhereOverflowSaturates) {
  for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
    EXPECT_EQ(flag(dtype, {{1, largest(dtype)}}, true), 1);
    EXPECT_EQ(flag(dtype, {{1, -largest(dtype)}}, true), 1);
    EXPECT_EQ(flag(dtype, {{1, -below_largest(dtype)}}, true), 0);
    EXPECT_EQ(flag(dtype, {{kInf}}, true), 1);
    EXPECT_EQ(flag(dtype, {{kNan}}, true), 1);
  }
}

TEST(NonFiniteCheck, LooksAtEveryInput) {
  const std::vector<double> clean(100, 3), last = {1, 2, kInf};
  EXPECT_EQ(flag(DType::fp16, {clean, clean, clean}), 0);
  EXPECT_EQ(flag(DType::fp16, {clean, clean, last}), 1);
  EXPECT_EQ(flag(DType::fp16, {last, clean, {}}), 1);
}

// Places are around the lengths of vectors and the parts of threads.
TEST(NonFiniteCheck, FindsItInEveryPlace) {
  on_every_isa([] {
    for (const std::size_t count : {1, 7, 16, 33, 129, 300}) {
      for (std::size_t at = 0; at < count; ++at) {
        std::vector<double> x(count, -1);
        x[at] = kInf;
        ASSERT_EQ(flag(DType::fp32, {x}), 1) << at << " of " << count;
        ASSERT_EQ(flag(DType::fp16, {x}), 1) << at << " of " << count;
      }
    }
  });
  for (const std::size_t at : {0, 65535, 65536, 131071, 131072, 140000}) {
    std::vector<double> x(140001, 1);
    EXPECT_EQ(flag(DType::bf16, {x}), 0);
    x[at] = kNan;
    EXPECT_EQ(flag(DType::bf16, {x}), 1) << at;
  }
}

// A tensor with Inf in its padding, or in element `at`.
double flag_stored(const char* variant, const TensorDesc& desc, std::int64_t at) {
  const Op& op = find_op("non_finite_check");
  const Problem problem = make_problem(op, {desc}, attrs_of(op, {}));
  Tensor x(desc);
  const std::vector<double> stored(static_cast<std::size_t>(desc.storage_elements()), kInf);
  from_doubles(desc.dtype, stored.data(), std::ssize(stored), x.data());
  std::vector<double> elements(static_cast<std::size_t>(desc.elements()), 1);
  if (at >= 0) elements[static_cast<std::size_t>(at)] = -kInf;
  std::vector<std::byte> bits(elements.size() * size_of(desc.dtype));
  from_doubles(desc.dtype, elements.data(), std::ssize(elements), bits.data());
  write_elements(desc, x.data(), {0, desc.elements()}, bits.data());
  Tensor flag(problem.outputs[0]);
  run_kernel(find_kernel(op.name, variant), problem, {&x}, {&flag}, 2);
  return double(*flag.as<float>());
}

TEST(NonFiniteCheck, PaddingDoesNotCount) {
  TensorDesc grouped = describe(DType::fp16, {58, 1, 3, 3}, Format::FRACTAL_Z);
  grouped.groups = 58;
  for (const TensorDesc& desc :
       {describe(DType::fp16, {2, 18, 3, 5}, Format::NC1HWC0),
        describe(DType::fp32, {58}, Format::NC1HWC0),
        describe(DType::fp32, {24, 3, 3, 3}, Format::FRACTAL_Z), grouped}) {
    for (const char* variant : kChecks) {
      SCOPED_TRACE(std::string(variant) + " on " + to_string(desc));
      EXPECT_EQ(flag_stored(variant, desc, -1), 0);
      EXPECT_EQ(flag_stored(variant, desc, 0), 1);
      EXPECT_EQ(flag_stored(variant, desc, desc.elements() - 1), 1);
    }
  }
}

TEST(NonFiniteCheck, IsOneNumberInFp32) {
  const Op& op = find_op("non_finite_check");
  const Problem problem = make_problem(
      op, {describe(DType::fp16, {2, 3}), describe(DType::fp16, {5})}, attrs_of(op, {}));
  EXPECT_EQ(problem.outputs.at(0), describe(DType::fp32, {1}));
  EXPECT_EQ(op.gradient, nullptr);
}

}  // namespace
}  // namespace opbench
