#include "judge/standards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensor/error.h"
#include "tests/support/refusal.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

using testing::HasSubstr;

// The message with which a file of standards is refused.
std::string refusal(const std::string& text) {
  return refusal_by([&] { parse_standards(text, "my.yaml"); });
}

Standard held_to(const Standards& standards, const std::string& typed, const std::string& op,
                 DType dtype) {
  return standard_for(standards, parse_standard(typed), op, dtype);
}

Standard built_in(const std::string& typed, DType dtype) {
  return held_to(builtin_standards(), typed, "Op", dtype);
}

TEST(Standards, MixedNumbersAreThoseOfTheTestKits) {
  EXPECT_EQ(built_in("mixed", DType::fp16).tolerance,
            (Tolerance{0x1p-9, 0x1p-9, 0.1, 32, 0.99, 0, true}));
  EXPECT_EQ(built_in("mixed", DType::bf16).tolerance,
            (Tolerance{0x1p-6, 0x1p-6, 1, 32, 0.99, 0, true}));
  EXPECT_EQ(built_in("mixed", DType::fp32).tolerance,
            (Tolerance{0x1p-10, 0x1p-16, 0.01, 32, 0.99, 0, true}));
}

TEST(Standards, IntegersAreExactUnderMixedAndStatistical) {
  for (const char* typed : {"mixed", "statistical", "exact"}) {
    for (const DType dtype : {DType::int64, DType::uint8, DType::boolean}) {
      EXPECT_EQ(built_in(typed, dtype).kind, StandardKind::exact) << typed;
      EXPECT_EQ(built_in(typed, dtype).tolerance, Tolerance{});
    }
  }
  EXPECT_EQ(built_in("cosine", DType::int32).kind, StandardKind::cosine);
  EXPECT_EQ(built_in("cross-check", DType::int32).rounding, 0);
}

TEST(Standards, OtherNumbersAreThoseOfTheTestKits) {
  const Standard statistical = built_in("statistical", DType::fp16);
  EXPECT_EQ(statistical.mean_relative, 0x1p-10);
  EXPECT_EQ(statistical.max_relative, 10 * 0x1p-10);
  EXPECT_EQ(statistical.tolerance.relative_floor, 1e-7);
  EXPECT_EQ(built_in("cosine", DType::fp32).least_cosine, 0.99);
  EXPECT_EQ(built_in("prec=0.5", DType::fp32).tolerance.atol, 0.5);
  EXPECT_EQ(built_in("cross-check=L0", DType::fp32).ratios, (RatioLimits{10, 2, 2}));
  EXPECT_EQ(built_in("cross-check", DType::fp32).ratios, (RatioLimits{5, 1.5, 1.5}));
  EXPECT_EQ(built_in("cross-check=L2", DType::bf16).ratios, (RatioLimits{2, 1.2, 1.2}));
  EXPECT_EQ(built_in("cross-check", DType::fp16).tolerance.relative_floor, 0x1p-11);
}

TEST(Standards, AreTypedExactly) {
  for (const char* typed : {"mixed", "exact", "statistical", "cosine", "prec=0.001",
                            "cross-check=L0", "cross-check=L1", "cross-check=L2"}) {
    EXPECT_EQ(to_string(parse_standard(typed)), typed);
  }
  EXPECT_EQ(to_string(parse_standard("cross-check")), "cross-check=L1");
  EXPECT_EQ(parse_standard("prec=1e-3").absolute, 1e-3);
  for (const char* typed : {"", "Mixed", "prec", "prec=", "prec=x", "prec=1x", "prec=-1", "prec=-0",
                            "prec=nan", "prec=inf", "cross-check=L3", "cross-check=", "cosine=1"}) {
    EXPECT_THROW(parse_standard(typed), Error) << typed;
  }
}

TEST(Standards, AFileChangesWhatItNames) {
  const Standards standards = parse_standards(
      "mixed:\n"
      "  fp16: {limit: 0.5}\n"
      "  int32: {atol: 1, inside: 1}\n"
      "cosine:\n"
      "  all: {least: 0.999}\n"
      "cross-check:\n"
      "  L1: {mare: 7}\n",
      "my.yaml");
  EXPECT_EQ(held_to(standards, "mixed", "Op", DType::fp16).tolerance,
            (Tolerance{0x1p-9, 0x1p-9, 0.5, 32, 0.99, 0, true}));
  const Standard whole = held_to(standards, "mixed", "Op", DType::int32);
  EXPECT_EQ(whole.kind, StandardKind::mixed);
  EXPECT_EQ(whole.tolerance.atol, 1);
  EXPECT_EQ(held_to(standards, "mixed", "Op", DType::int64).kind, StandardKind::exact);
  EXPECT_EQ(held_to(standards, "cosine", "Op", DType::bf16).least_cosine, 0.999);
  EXPECT_EQ(held_to(standards, "cross-check", "Op", DType::fp32).ratios,
            (RatioLimits{7, 1.5, 1.5}));
  EXPECT_EQ(mixed_tolerance(DType::fp16).limit, 0.1);  // the built-in numbers stay
}

TEST(Standards, AFileHasRulesForOperators) {
  const Standards standards = parse_standards(
      "operators:\n"
      "  - regex: Norm\n"
      "    mixed: {fp32: {rtol: 2^-5}}\n"
      "  - name: CudnnBatchNormBackward\n"
      "    standard: prec=0.25\n"
      "  - name: NativeBatchNormBackward\n"
      "    mixed: {all: {rtol: 3*2^-5}}\n",
      "my.yaml");
  EXPECT_EQ(held_to(standards, "mixed", "LayerNorm", DType::fp32).tolerance.rtol, 0x1p-5);
  EXPECT_EQ(held_to(standards, "mixed", "LayerNorm", DType::fp16).tolerance.rtol, 0x1p-9);
  EXPECT_EQ(held_to(standards, "mixed", "Relu", DType::fp32).tolerance.rtol, 0x1p-10);
  const Standard absolute = held_to(standards, "mixed", "CudnnBatchNormBackward", DType::fp32);
  EXPECT_EQ(absolute.kind, StandardKind::absolute);
  EXPECT_EQ(absolute.tolerance.atol, 0.25);
  EXPECT_EQ(held_to(standards, "exact", "CudnnBatchNorm", DType::fp32).kind, StandardKind::exact);
  // The later entry has precedence.
  EXPECT_EQ(held_to(standards, "mixed", "NativeBatchNormBackward", DType::fp32).tolerance.rtol,
            3 * 0x1p-5);
}

TEST(Standards, ErrorsNameTheLine) {
  EXPECT_EQ(refusal("mixed: {fp16: {}}\nmixd: {}\n").substr(0, 10), "my.yaml:2:");
  EXPECT_THAT(refusal("mixed:\n  fp16: {rtl: 1}\n"), HasSubstr("my.yaml:2: unknown key 'rtl'"));
  EXPECT_THAT(refusal("mixed:\n  fp17: {rtol: 1}\n"), HasSubstr("my.yaml:2: "));
  EXPECT_THAT(refusal("mixed:\n  fp16:\n    rtol: much\n"),
              HasSubstr("my.yaml:3: rtol is 'much'; it must be a number of at least 0"));
  EXPECT_THAT(refusal("mixed:\n  fp16: {inside: 99}\n"),
              HasSubstr("my.yaml:2: inside is '99'; it must be a number from 0 to 1"));
  for (const char* number : {"-1", "nan", "inf", "2^", "2^9999", "1*", "''", "1 2"}) {
    EXPECT_THAT(refusal(std::string("mixed:\n  fp16: {rtol: ") + number + "}\n"),
                HasSubstr("my.yaml:2: rtol is"))
        << number;
  }
  EXPECT_THAT(refusal("cross-check:\n  L3: {mare: 1}\n"), HasSubstr("my.yaml:2: "));
  EXPECT_THAT(refusal("cross-check:\n  L1: {floor: 1}\n"), HasSubstr("unknown key 'floor'"));
  EXPECT_THAT(refusal("mixed: 3\n"), HasSubstr("my.yaml:1: mixed is '3'"));
  EXPECT_THAT(refusal("- 1\n"), HasSubstr("my.yaml:1: "));
  EXPECT_THAT(refusal("a: ]\n"), HasSubstr("my.yaml:1: not YAML"));
}

TEST(Standards, ErrorsOfRulesNameTheLine) {
  EXPECT_THAT(refusal("operators:\n  - standard: exact\n"),
              HasSubstr("my.yaml:2: an entry of operators needs a name or a regex"));
  EXPECT_THAT(refusal("operators:\n  - name: A\n    regex: B\n"), HasSubstr("my.yaml:3: "));
  EXPECT_THAT(refusal("operators:\n  - name: A\n    standard: precise\n"),
              HasSubstr("my.yaml:3: unknown standard 'precise'"));
  EXPECT_THAT(refusal("operators:\n  - regex: '('\n"),
              HasSubstr("my.yaml:2: regex '(' is not a regular expression"));
  EXPECT_THAT(refusal("operators: A\n"), HasSubstr("my.yaml:1: operators is 'A'"));
}

TEST(Standards, AFileThatCannotBeReadIsNamed) {
  EXPECT_THROW(load_standards("no/such/file.yaml"), Error);
  const TempDir directory;
  const std::string path = directory.write("x.yaml", "cosine: {all: {least: 2^-1}}\n");
  EXPECT_EQ(held_to(load_standards(path), "cosine", "Op", DType::fp32).least_cosine, 0.5);
}

}  // namespace
}  // namespace opbench
