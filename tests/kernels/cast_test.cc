#include <gmock/gmock.h>

#include <cstring>

#include "judge/compare_values.h"
#include "tensor/error.h"
#include "tensor/fill.h"
#include "tests/evaluate.h"
#include "tests/support.h"
#include "tests/support/non_finite.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;

namespace {

Problem problem_of(DType from, DType to, std::int64_t count) {
  const Op& op = find_op("cast");
  return make_problem(op, {describe(from, {count})}, attrs_of(op, {{"to", std::string(name(to))}}));
}

// The result of a variant for `values` of dtype `From`, as fp64.
template <class From>
std::vector<double> cast(std::string_view variant, DType from, DType to,
                         const std::vector<From>& values) {
  const Problem problem = problem_of(from, to, std::ssize(values));
  const Tensor x(problem.inputs[0]);
  if constexpr (std::is_same_v<From, double>)
    from_doubles(from, values.data(), std::ssize(values), x.data());
  else
    std::memcpy(x.data(), values.data(), values.size() * sizeof(From));
  std::vector<double> result(values.size());
  if (variant == "reference") {
    const std::vector<InputReader> readers = {{x.desc, x.data()}};
    reference_of(*problem.op, readers, problem.attrs)(0, {0, std::ssize(values)}, result);
    return result;
  }
  Tensor y(problem.outputs[0]);
  run_kernel(find_kernel("cast", variant), problem, {&x}, {&y});
  to_doubles(to, y.data(), std::ssize(values), result.data());
  return result;
}

constexpr const char* kExact[] = {"reference", "native", "cast"};

// Random data over the whole range of a dtype, with its special values.
Tensor mixed(DType dtype, std::int64_t count) {
  Tensor x(describe(dtype, {count}));
  const auto bits = noise(x.desc.bytes(), 7);
  if (count == 0) return x;
  std::memcpy(x.data(), bits.data(), bits.size());
  if (dtype == DType::boolean) {
    for (std::int64_t i = 0; i < count; ++i) x.as<std::uint8_t>()[i] &= 1;
  }
  if (is_floating(dtype)) {  // half of them in the range of every integer dtype
    generate({DistributionKind::normal, 0, 100}, 3, dtype, count, {0, count / 2}, x.data());
  }
  return x;
}

void expect_agrees(const char* variant, DType from, DType to, std::int64_t count, int threads) {
  const Problem problem = problem_of(from, to, count);
  const Tensor x = mixed(from, count);
  Tensor y(problem.outputs[0]);
  std::memset(y.data(), 0xFF, y.desc.bytes());
  run_kernel(find_kernel("cast", variant), problem, {&x}, {&y}, threads);
  std::vector<std::byte> expected(y.desc.bytes());
  const std::vector<InputReader> readers = {{x.desc, x.data()}};
  problem.op->exact_reference(readers, problem.attrs)(0, {0, count}, expected.data());
  Standard standard{.kind = StandardKind::exact};
  standard.tolerance.equality = Equality::bits_but_nan;
  const ValueComparison found = compare_values(y.data(), to, expected.data(), to, count, standard);
  EXPECT_EQ(found.stats.unequal, 0) << variant << ' ' << name(from) << " to " << name(to) << ", "
                                    << count << " elements: " << found.judgement.reason;
}

}  // namespace

TEST(Cast, EveryPairAgreesWithTheReference) {
  on_every_isa([] {
    for (const DType from : kAllDTypes) {
      for (const DType to : kAllDTypes) {
        for (const char* variant : {"native", "cast"}) {
          for (const std::int64_t count : {0, 1, 15, 17, 63, 65, 1021}) {
            expect_agrees(variant, from, to, count, 1);
          }
          expect_agrees(variant, from, to, 1021, 2);
        }
      }
    }
  });
}

TEST(Cast, TruncatesTowardsZeroAndClamps) {
  const std::vector<double> x = {1.9, -1.9, 3e9, -3e9, kInf, -kInf, kNan};
  on_every_isa([&] {
    for (const char* variant : kExact) {
      EXPECT_THAT(cast(variant, DType::fp32, DType::int32, x),
                  ElementsAre(1, -1, 2147483647, -2147483648., 2147483647, -2147483648., 0))
          << variant;
      EXPECT_THAT(cast(variant, DType::fp64, DType::int8, x),
                  ElementsAre(1, -1, 127, -128, 127, -128, 0))
          << variant;
    }
  });
}

// torch converts to uint8 through int64.
TEST(Cast, FloatToUint8IsModulo256) {
  for (const char* variant : kExact) {
    EXPECT_THAT(cast(variant, DType::fp32, DType::uint8,
                     std::vector<double>{-1.5, 255, 256.5, 0x1p70, kInf, kNan}),
                ElementsAre(255, 255, 0, 0, 0, 0))
        << variant;
  }
}

TEST(Cast, IntegersWrap) {
  const std::vector<std::int64_t> x = {-1, 128, 255, 256, (1LL << 32) + 5, -(1LL << 31) - 1};
  on_every_isa([&] {
    for (const char* variant : kExact) {
      EXPECT_THAT(cast(variant, DType::int64, DType::uint8, x),
                  ElementsAre(255, 128, 255, 0, 5, 255));
      EXPECT_THAT(cast(variant, DType::int64, DType::int8, x), ElementsAre(-1, -128, -1, 0, 5, -1));
      EXPECT_THAT(cast(variant, DType::int64, DType::int32, x),
                  ElementsAre(-1, 128, 255, 256, 5, 2147483647));
    }
  });
}

TEST(Cast, BoolIsNotZero) {
  for (const char* variant : kExact) {
    EXPECT_THAT(cast(variant, DType::fp32, DType::boolean,
                     std::vector<double>{0, -0.0, 0.25, -3, kNan, kInf, 0x1p-149}),
                ElementsAre(0, 0, 1, 1, 1, 1, 1))
        << variant;
    EXPECT_THAT(cast(variant, DType::int32, DType::boolean, std::vector<std::int32_t>{0, 256, -1}),
                ElementsAre(0, 1, 1))
        << variant;
  }
}

// 2049 + 2^-13 rounds to fp32 as 2049, which is a tie of fp16 and goes to 2048. Rounded once, it is
// 2050. 2^57 + 2^49 + 1 is above the tie of bf16, but on it in fp64. int32 2^24 + 2^16 + 1 is on
// the tie in fp32.
TEST(Cast, RoundsOnce) {
  for (const char* variant : kExact) {
    EXPECT_THAT(cast(variant, DType::fp64, DType::fp16, std::vector<double>{2049 + 0x1p-13, 2049}),
                ElementsAre(2050, 2048))
        << variant;
    EXPECT_THAT(
        cast(variant, DType::int64, DType::bf16,
             std::vector<std::int64_t>{(1LL << 57) + (1LL << 49) + 1, (1LL << 57) + (1LL << 49)}),
        ElementsAre(0x1p57 + 0x1p50, 0x1p57))
        << variant;
    EXPECT_THAT(cast(variant, DType::int32, DType::bf16,
                     std::vector<std::int32_t>{(1 << 24) + (1 << 16) + 1, (1 << 24) + (1 << 16)}),
                ElementsAre(0x1p24 + 0x1p17, 0x1p24))
        << variant;
    EXPECT_THAT(cast(variant, DType::int32, DType::fp16, std::vector<std::int32_t>{65519, 65520}),
                ElementsAre(65504, kInf))
        << variant;
  }
}

// int32 -128 to 255 are converted as in the framework. fp16 drops the last bit beyond +-2048. For
// int8 this begins at 1920, because 128 is added first.
TEST(Cast910A, Int32ToEightBitsGoesThroughHalf) {
  EXPECT_THAT(cast("npu_910a", DType::int32, DType::uint8,
                   std::vector<std::int32_t>{-1, 256, 2047, 2049, 2051, 1000000}),
              ElementsAre(255, 0, 255, 0, 4, 224));
  EXPECT_THAT(cast("npu_910a", DType::int32, DType::int8,
                   std::vector<std::int32_t>{-129, 128, 1919, 1921, 1923, -2047}),
              ElementsAre(127, -128, 127, -128, -124, 1));
}

TEST(Cast910A, Int8ToUint8IsTheMagnitude) {
  EXPECT_THAT(
      cast("npu_910a", DType::int8, DType::uint8, std::vector<std::int8_t>{-1, 5, -128, 127}),
      ElementsAre(1, 5, 128, 127));
}

TEST(Cast910A, Fp32ToInt64GoesThroughInt32) {
  EXPECT_THAT(cast("npu_910a", DType::fp32, DType::int64, std::vector<double>{-1.5, 0x1p40, 7}),
              ElementsAre(-1, 2147483647, 7));
}

TEST(Cast910A, FloatsToEightBits) {
  EXPECT_THAT(cast("npu_910a", DType::fp32, DType::uint8, std::vector<double>{-1.5, 300, 0x1p40}),
              ElementsAre(255, 44, 0));
  EXPECT_THAT(cast("npu_910a", DType::fp16, DType::uint8, std::vector<double>{-1.5, 300, 65504}),
              ElementsAre(255, 44, 224));
  EXPECT_THAT(cast("npu_910a", DType::fp16, DType::int8, std::vector<double>{-1.5, 130, 300}),
              ElementsAre(-1, -126, 44));
  EXPECT_THAT(cast("npu_910a", DType::fp32, DType::boolean, std::vector<double>{0, 0x1p-149, -2}),
              ElementsAre(0, 1, 1));
}

TEST(Cast910A, RefusesWhatTheDeviceLacks) {
  const Kernel& kernel = find_kernel("cast", "npu_910a");
  EXPECT_EQ(refusal(kernel, problem_of(DType::fp32, DType::bf16, 4)),
            "Cast on 910A has no fp32 to bf16");
  EXPECT_EQ(refusal(kernel, problem_of(DType::fp64, DType::fp32, 4)),
            "Cast on 910A has no fp64 to fp32");
  EXPECT_EQ(refusal(kernel, problem_of(DType::fp32, DType::fp16, 4)), "");
}

TEST(Cast, GradientCastsBackBetweenFloats) {
  const Op& op = find_op("cast");
  const auto calls = op.gradient(problem_of(DType::bf16, DType::fp32, 4));
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].attrs.word("to"), "bf16");
  try {
    op.gradient(problem_of(DType::fp32, DType::int32, 4));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cast from fp32 to int32 has no gradient"));
  }
}

TEST(Cast, NamesTheDtypesThereAre) {
  try {
    attrs_of(find_op("cast"), {{"to", "fp8"}});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("dtype 'fp8' is unknown; allowed"));
  }
}

}  // namespace opbench
