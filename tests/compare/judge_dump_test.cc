// Tests dumps written here, with records named as Ascend's dumper names them.
#include "compare/judge_dump.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <optional>

#include "compare/judge_report.h"
#include "dump/dump_writer.h"
#include "tensor/half.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

using Doubles = std::vector<double>;

Doubles arithmetic(std::size_t count, double first, double step) {
  Doubles values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = first + step * static_cast<double>(i);
  return values;
}

Doubles mapped(const Doubles& x, const std::function<double(double)>& f) {
  Doubles y(x.size());
  std::transform(x.begin(), x.end(), y.begin(), f);
  return y;
}

/// A dump of one record.
class JudgeDump : public testing::Test, protected TempDir {
 protected:
  void begin(const std::string& op, DeviceType device = DeviceType::npu) {
    writer_->begin_record(op, device);
  }
  Tensor tensor(DType dtype, const Dims& shape, const Doubles& values) {
    Tensor made(describe(dtype, shape));
    from_doubles(dtype, values.data(), std::ssize(values), made.data());
    return made;
  }
  void input(const std::string& name, DType dtype, const Dims& shape, const Doubles& values) {
    const Tensor made = tensor(dtype, shape, values);
    writer_->write_input(name, made.desc, made.data());
  }
  void output(const std::string& name, DType dtype, const Dims& shape, const Doubles& values) {
    const Tensor made = tensor(dtype, shape, values);
    writer_->write_output(name, made.desc, made.data());
  }

  JudgedDump judged(const JudgeOptions& options = {}) {
    writer_->finish();
    DumpSource file(path("d.h5"));
    return judge_dump(
        file, OpTable::builtin(), options, [](std::size_t, std::size_t) {}, [] { return false; });
  }
  JudgedRecord only_record(const JudgeOptions& options = {}) {
    JudgedDump dump = judged(options);
    EXPECT_EQ(dump.records.size(), 1u);
    return dump.records.at(0);
  }

  // Begins a new file in place of the earlier one.
  void SetUpWriter() { writer_.emplace(path("d.h5")); }

  std::optional<DumpWriter> writer_{std::in_place, path("d.h5")};
};

double relu(double x) { return std::max(0.0, x); }
double softplus(double x) { return x > 20 ? x : std::log1p(std::exp(x)); }

}  // namespace

TEST_F(JudgeDump, WhatIsRightForItsInputsIsOk) {
  const Doubles x = arithmetic(12, -3, 0.5);
  begin("relu_");
  input("self", DType::fp32, {3, 4}, x);
  output("self", DType::fp32, {3, 4}, mapped(x, relu));
  const JudgedRecord record = only_record();
  EXPECT_EQ(record.ruling, Ruling::ok) << record.reason;
  EXPECT_EQ(record.judged, 12);
  EXPECT_EQ(record.findings.at(0).op, "relu");
}

// The product of 4 x 64 and 64 x 8. Its last row is a thousandth of the others, which is below
// their tolerance in fp16.
TEST_F(JudgeDump, ASmallRowThatIsNotComputedIsGuilty) {
  for (const bool is_computed : {true, false}) {
    SetUpWriter();
    Doubles a = mapped(arithmetic(std::size_t{4} * 64, 1, 1), [](double i) { return std::sin(i); });
    const Doubles b =
        mapped(arithmetic(std::size_t{64} * 8, 1, 1), [](double i) { return std::cos(i * i); });
    for (std::size_t k = 0; k < 64; ++k) a[3 * 64 + k] *= 1e-3;
    const auto fp16 = [](double value) {
      std::uint16_t bits = 0;
      from_doubles(DType::fp16, &value, 1, &bits);
      to_doubles(DType::fp16, &bits, 1, &value);
      return value;
    };
    Doubles y(std::size_t{4} * 8);
    for (std::size_t i = 0; i < y.size(); ++i) {
      for (std::size_t k = 0; k < 64; ++k) y[i] += fp16(a[i / 8 * 64 + k]) * fp16(b[k * 8 + i % 8]);
      if (i / 8 == 3 && !is_computed) y[i] = 0;
    }
    begin("mm", DeviceType::cpu);
    input("self", DType::fp16, {4, 64}, a);
    input("mat2", DType::fp16, {64, 8}, b);
    output("result", DType::fp16, {4, 8}, y);
    const JudgedRecord record = only_record();
    EXPECT_EQ(record.ruling, is_computed ? Ruling::ok : Ruling::guilty) << record.reason;
    EXPECT_THAT(record.findings.at(0).reason, HasSubstr(is_computed ? "" : "worst at [3,"));
  }
}

// A NaN of the input is not an error of the operator.
TEST_F(JudgeDump, ErrorsThatCameWithTheInputAreCarried) {
  Doubles x = arithmetic(12, -3, 0.5);
  x[7] = std::nan("");
  begin("softplus");
  input("self", DType::fp32, {12}, x);
  output("result", DType::fp32, {12}, mapped(x, softplus));
  EXPECT_EQ(only_record().ruling, Ruling::ok);
}

TEST_F(JudgeDump, AWrongElementIsNamedWithItsInput) {
  const Doubles x = arithmetic(64, -3, 0.25);
  Doubles y = mapped(x, softplus);
  y[42] = 1;
  begin("softplus");
  input("self", DType::fp32, {8, 8}, x);
  output("result", DType::fp32, {8, 8}, y);
  const JudgedRecord record = only_record();
  ASSERT_EQ(record.ruling, Ruling::guilty);
  const OutputFinding& finding = *record.worst();
  EXPECT_THAT(finding.reason, HasSubstr("[5,2]"));
  EXPECT_THAT(finding.reason, HasSubstr("self=7.5"));
  EXPECT_EQ(finding.wrong_elements, 1);
  EXPECT_EQ(finding.pattern, "a single element, 42 of 64");
  EXPECT_EQ(finding.path, "/softplus/1/output/result");
}

// CANN's Softplus is log(e^x + 1). It is Inf if e^x overflows fp16, from ln 65504 = 11.09 on.
TEST_F(JudgeDump, TheVariantThatRanAndTheValuesThatItGetsWrong) {
  const Doubles x = arithmetic(64, 0.125, 0.25);  // exact in fp16
  begin("softplus");
  input("self", DType::fp16, {64}, x);
  Doubles y = mapped(x, softplus);
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (x[i] > 11.09) y[i] = 65504;
  }
  output("result", DType::fp16, {64}, y);
  const JudgedRecord record = only_record();
  ASSERT_EQ(record.ruling, Ruling::guilty);
  EXPECT_EQ(record.worst()->pattern, "only self > 10.875");
  EXPECT_EQ(record.worst()->wrong_elements, 20);
}

// The symptoms follow from the rules of judge/causes.yaml. The tests of these rules plant each
// symptom.
TEST_F(JudgeDump, WhatAWrongOutputLooksLike) {
  const Doubles x = arithmetic(64, -3, 0.25);
  begin("softplus");
  input("self", DType::fp32, {8, 8}, x);
  output("result", DType::fp32, {8, 8}, mapped(x, [](double v) { return softplus(v) / 8; }));
  begin("relu");
  input("self", DType::fp32, {37}, arithmetic(37, 1, 0.5));
  Doubles tail = arithmetic(37, 1, 0.5);
  std::fill(tail.begin() + 32, tail.end(), 0);
  output("result", DType::fp32, {37}, tail);
  const JudgedDump dump = judged();
  const auto rules = [&](std::size_t record) {
    std::vector<std::string> names;
    for (const Cause& cause : dump.records.at(record).findings.at(0).causes)
      names.push_back(cause.rule);
    return names;
  };
  EXPECT_THAT(rules(0), testing::ElementsAre("scale"));
  EXPECT_THAT(rules(1), testing::ElementsAre("tail", "zero"));
  EXPECT_THAT(dump.records[0].findings[0].causes[0].text,
              HasSubstr("every wrong value is 0.125 times what is expected"));
  const ErrorPicture& picture =
      *dump.records[1].findings[0].picture;  // 17 to 19 are expected, 0 is recorded
  EXPECT_EQ(picture.histogram.exact, 32);
  EXPECT_EQ(picture.histogram.counts[static_cast<std::size_t>(5 - ErrorHistogram::kLowest)], 5);
  EXPECT_EQ(picture.map.columns, 37u);
  EXPECT_EQ(picture.map.errors[31], 0);
  EXPECT_EQ(picture.map.errors[32], 17);
  EXPECT_EQ(picture.map.axes.at(0).last, 19);
}

TEST(PicturedRecords, AreTheFirstInWhateverOrderTheyAreJudged) {
  JudgedRecord plain, drawn;
  plain.findings.resize(1);
  drawn.findings.resize(2);
  drawn.findings[1].picture = std::make_shared<ErrorPicture>();
  PicturedRecords records;
  EXPECT_EQ(records.add(1, plain), std::nullopt);
  for (std::size_t i = 0; i < PicturedRecords::kMost; ++i) {
    EXPECT_EQ(records.add(100 + i, drawn), std::nullopt);
  }
  EXPECT_EQ(records.add(200, drawn), 200u);
  EXPECT_EQ(records.add(7, drawn), 100u + PicturedRecords::kMost - 1);
  EXPECT_EQ(records.add(7, drawn), std::nullopt);  // judged again
  drawn.drop_pictures();
  EXPECT_FALSE(drawn.has_pictures());
}

// The result is truncated to fp16 instead of rounded. Every element is within its tolerance.
TEST_F(JudgeDump, WhatLeansLooksTruncated) {
  Doubles x(512), y(512);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = 0.25 + static_cast<double>(i) / 128;  // exact in fp16
    const double unit = std::ldexp(1, std::ilogb(softplus(x[i])) - 10);
    y[i] = std::floor(softplus(x[i]) / unit) * unit;
  }
  begin("softplus");
  input("self", DType::fp16, {512}, x);
  output("result", DType::fp16, {512}, y);
  const JudgedRecord record = only_record();
  ASSERT_EQ(record.ruling, Ruling::guilty);
  EXPECT_TRUE(record.findings[0].is_leaning) << record.findings[0].reason;
  ASSERT_EQ(record.findings[0].causes.size(), 1u);
  EXPECT_EQ(record.findings[0].causes[0].rule, "truncated");
}

TEST_F(JudgeDump, NamesTheVariantThatLeavesTheSameBits) {
  const std::vector<double> x = {-100, -50, 0.5, 80, 90, 95};
  begin("SoftplusBackward0");
  input("grads/grads_0", DType::fp32, {6}, {1, 1, 1, 1, 1, 1});
  input("self", DType::fp32, {6}, x);
  // SoftplusGrad (V1) is e^x/(1 + e^x) in fp32, which is NaN for x > 88.7.
  output("grad_inputs/grad_inputs_0", DType::fp32, {6}, mapped(x, [](double v) {
           const float e = std::exp(static_cast<float>(v));
           return double(e / (1 + e));
         }));
  const JudgedRecord record = only_record();
  ASSERT_EQ(record.ruling, Ruling::guilty);
  EXPECT_EQ(record.worst()->pattern, "only self > 80");
  EXPECT_THAT(record.implementation, HasSubstr("softplus_grad"));
}

// The names and arguments are those that the dumper writes for a convolution's gradient.
TEST_F(JudgeDump, OneRecordOfSeveralOperators) {
  begin("CudnnConvolutionBackward", DeviceType::cuda);
  input("grads/grads_0", DType::fp32, {1, 1, 2, 2}, {1, 2, 3, 4});
  input("self", DType::fp32, {1, 1, 3, 3}, arithmetic(9, 1, 1));
  input("weight", DType::fp32, {1, 1, 2, 2}, {1, 0, 0, -1});
  for (const char* list : {"stride", "dilation"}) {
    writer_->write_input_list(list, std::vector<std::int64_t>{1, 1});
  }
  writer_->write_input_list("padding", std::vector<std::int64_t>{0, 0});
  writer_->write_input_scalar("groups", std::int64_t{1});
  writer_->write_input_scalar("transposed", false);
  // By hand: dx is dy at [0,0] minus dy moved by one place. dw is the sums of x under dy:
  // 1*1+2*2+3*4+4*5 ...
  output("grad_inputs/grad_inputs_0", DType::fp32, {1, 1, 3, 3}, {1, 2, 0, 3, 3, -2, 0, -3, -4});
  output("grad_inputs/grad_inputs_1", DType::fp32, {1, 1, 2, 2}, {37, 47, 67, 78});
  output("grad_inputs/grad_inputs_2", DType::fp32, {1}, {10});
  const JudgedRecord record = only_record();
  ASSERT_EQ(record.findings.size(), 3u) << record.reason;
  ASSERT_EQ(record.ruling, Ruling::guilty);
  EXPECT_FALSE(record.findings[0].is_wrong) << record.findings[0].reason;
  EXPECT_FALSE(record.findings[2].is_wrong) << record.findings[2].reason;
  EXPECT_EQ(record.worst()->path, "/CudnnConvolutionBackward/1/output/grad_inputs/grad_inputs_1");
  EXPECT_EQ(record.worst()->op, "conv2d_grad_weight");
  EXPECT_EQ(record.worst()->pattern, "a single element, 3 of 4") << "77 is right";
}

// The cube of Ascend 910 takes fp16 operands. It rounds 2049 to 2048, and 2048 - 2048 is 0.
TEST_F(JudgeDump, ProductsOfNarrowOperands) {
  begin("mm");
  input("self", DType::fp32, {1, 2}, {2049, -2048});
  input("mat2", DType::fp32, {2, 1}, {1, 1});
  output("result", DType::fp32, {1, 1}, {0});
  writer_->finish();
  DumpSource file(path("d.h5"));
  const auto judged = [&](const JudgeOptions& options) {
    return judge_dump(
               file, OpTable::builtin(), options, [](std::size_t, std::size_t) {},
               [] { return false; })
        .records.at(0);
  };
  const JudgedRecord record = judged({});
  EXPECT_EQ(record.ruling, Ruling::ok);
  EXPECT_EQ(record.findings.at(0).numerics, "fp16 operands");
  JudgeOptions strict;
  strict.rules.allows_device_numerics = false;
  EXPECT_EQ(judged(strict).ruling, Ruling::guilty);
}

// PyTorch rounds every product and every partial sum on a CPU without AVX512-BF16.
TEST_F(JudgeDump, SumsInBf16AreKnownOnACpuAlone) {
  constexpr std::size_t kRows = 16, kTerms = 300, kColumns = 32;
  const auto bf16 = [](double value) {
    std::uint16_t bits = 0;
    from_doubles(DType::bf16, &value, 1, &bits);
    to_doubles(DType::bf16, &bits, 1, &value);
    return value;
  };
  const Doubles a = mapped(arithmetic(kRows * kTerms, 1, 1),
                           [&](double i) { return bf16(std::sin(i * i * 0.37)); });
  const Doubles b = mapped(arithmetic(kTerms * kColumns, 1, 1),
                           [&](double i) { return bf16(std::cos(i * i * 0.73)); });
  Doubles sums(kRows * kColumns);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    for (std::size_t k = 0; k < kTerms; ++k) {
      const double term = a[i / kColumns * kTerms + k] * b[k * kColumns + i % kColumns];
      sums[i] = bf16(sums[i] + bf16(term));
    }
  }
  Doubles scaled = mapped(sums, [](double y) { return 2 * y; });
  Doubles stray = sums;
  stray[77] += 10;
  const auto judged = [&](const Doubles& y, DeviceType device) {
    SetUpWriter();
    begin("mm", device);
    input("self", DType::bf16, {kRows, kTerms}, a);
    input("mat2", DType::bf16, {kTerms, kColumns}, b);
    output("result", DType::bf16, {kRows, kColumns}, y);
    return only_record();
  };
  const JudgedRecord record = judged(sums, DeviceType::cpu);
  EXPECT_EQ(record.ruling, Ruling::ok) << record.reason;
  EXPECT_EQ(record.findings.at(0).numerics, "bf16 sums");
  EXPECT_EQ(judged(sums, DeviceType::cuda).ruling, Ruling::guilty);
  EXPECT_EQ(judged(scaled, DeviceType::cpu).ruling, Ruling::guilty);
  EXPECT_EQ(judged(stray, DeviceType::cpu).ruling, Ruling::guilty);
}

// A capture records the layer and the line of the network's source.
TEST_F(JudgeDump, ALayerIsNamedAndSelected) {
  for (const char* module : {"features.0", "head"}) {
    writer_->begin_record("relu", DeviceType::cpu,
                          {{"opbench_module", module}, {"opbench_source", "model.py:41"}});
    input("self", DType::fp32, {2}, {-1, 1});
    output("result", DType::fp32, {2}, {module == std::string("head") ? 1.0 : 0.0, 1});
  }
  JudgeOptions options;
  options.only = [](std::string_view name) { return name == "head"; };
  const JudgedRecord record = only_record(options);
  EXPECT_EQ(record.module, "head");
  EXPECT_EQ(record.source, "model.py:41");
  JudgedDump dump{"d.h5", {record}, {}};
  std::ostringstream out;
  print_judged(out, dump, 0, false, {});
  EXPECT_THAT(out.str(), HasSubstr("first /relu/2, in head, model.py:41\n"));
  EXPECT_THAT(out.str(), HasSubstr("           in head, model.py:41\n"));
}

// Ascend 910 has no Inf, so 300 * 300 gives 65504.
TEST_F(JudgeDump, Fp16ThatSaturates) {
  begin("mul_Tensor");
  input("self", DType::fp16, {2}, {300, 2});
  input("other", DType::fp16, {2}, {300, 3});
  output("result", DType::fp16, {2}, {65504, 6});
  const JudgedRecord record = only_record();
  EXPECT_EQ(record.ruling, Ruling::ok);
  EXPECT_EQ(record.findings.at(0).numerics, "saturates at 65504");
}

// The lower 16 bits are truncated instead of rounded, as in a kernel with a wrong cast.
TEST_F(JudgeDump, RoundingThatLeansToOneSide) {
  const Doubles x = arithmetic(256, 0.37, 0.0171);
  begin("softplus");
  input("self", DType::fp32, {256}, x);
  Doubles kept = mapped(x, [](double v) { return double(float(v)); });
  output("result", DType::bf16, {256}, mapped(kept, [](double v) {
           const double unit = std::ldexp(1, std::ilogb(softplus(v)) - 7);
           return std::floor(softplus(v) / unit) * unit;
         }));
  const JudgedRecord record = only_record();
  ASSERT_EQ(record.ruling, Ruling::guilty);
  EXPECT_THAT(record.worst()->reason, StartsWith("rounds "));
}

// No mask is recorded. Half of the elements are dropped instead of a quarter, and kept elements are
// doubled. 1000 draws with probability 1/4 give 500 by chance once in 10^60 times.
TEST_F(JudgeDump, DrawsAreHeldToTheirDistribution) {
  const auto dropped = [&](double p, double factor) {
    SetUpWriter();
    const Doubles x = arithmetic(1000, 1, 0.5);
    begin("dropout");
    input("input", DType::fp32, {1000}, x);
    input("p", DType::fp64, {1}, {p});
    Doubles y = x;
    for (std::size_t i = 0; i < y.size(); ++i) y[i] *= i % 2 == 0 ? 0 : factor;
    output("result", DType::fp32, {1000}, y);
    return only_record();
  };
  EXPECT_EQ(dropped(0.5, 2).ruling, Ruling::random);
  const JudgedRecord unscaled = dropped(0.5, 1), rare = dropped(0.25, 4. / 3);
  ASSERT_EQ(unscaled.ruling, Ruling::guilty);
  EXPECT_EQ(unscaled.worst()->reason, "element 1 is 1.5; allowed: 0 and 3");
  ASSERT_EQ(rare.ruling, Ruling::guilty);
  EXPECT_EQ(rare.worst()->reason, "500 of 1000 are kept, where the share should be 0.75");
}

TEST_F(JudgeDump, RandomAndUnknownAreSaidSo) {
  begin("native_dropout");
  input("self", DType::fp32, {2}, {1, 2});
  output("result", DType::fp32, {2}, {0, 4});
  begin("no_such_operator");
  output("result", DType::fp32, {2}, {0, 4});
  begin("index_select");
  input("self", DType::fp32, {2}, {1, 2});
  output("result", DType::fp32, {2}, {1, 2});
  const JudgedDump judged = this->judged();
  ASSERT_EQ(judged.records.size(), 3u);
  EXPECT_EQ(judged.records[0].ruling, Ruling::random);
  EXPECT_EQ(judged.records[1].ruling, Ruling::unknown);
  EXPECT_EQ(judged.records[1].reason, "no operator of that name is known");
  EXPECT_EQ(judged.records[2].reason, "input index is not recorded");
  EXPECT_EQ(judged.judged_elements(), 0);
  EXPECT_EQ(judged.elements(), 6);
}

// Statistics are in fp32 and activations in fp16, as in automatic mixed precision.
TEST_F(JudgeDump, MixedDtypes) {
  begin("native_batch_norm");
  input("input", DType::fp16, {2, 1, 1, 2}, {1, 2, 3, 4});
  for (const char* name : {"weight", "running_var"}) input(name, DType::fp32, {1}, {1});
  for (const char* name : {"bias", "running_mean"}) input(name, DType::fp32, {1}, {0});
  writer_->write_input_scalar("training", true);
  writer_->write_input_scalar("momentum", 0.1);
  writer_->write_input_scalar("eps", 0.0);
  const double unit = 1 / std::sqrt(1.25);  // 1 2 3 4: mean 2.5, variance 1.25
  output("result0", DType::fp16, {2, 1, 1, 2}, {-1.5 * unit, -0.5 * unit, 0.5 * unit, 1.5 * unit});
  output("result1", DType::fp32, {1}, {2.5});
  const JudgedRecord record = only_record();
  EXPECT_EQ(record.ruling, Ruling::ok) << record.reason;
  EXPECT_EQ(record.judged, 5);
}

TEST_F(JudgeDump, AnIndexBeyondItsAxisIsNoCrash) {
  begin("index_select");
  input("self", DType::fp32, {2, 2}, {1, 2, 3, 4});
  input("index", DType::int64, {1}, {7});
  writer_->write_input_scalar("dim", std::int64_t{0});
  output("result", DType::fp32, {1, 2}, {1, 2});
  const JudgedRecord record = only_record();
  EXPECT_EQ(record.ruling, Ruling::unknown);
  EXPECT_THAT(record.reason, HasSubstr("7"));
}

TEST_F(JudgeDump, WhatNeedsTooMuchMemoryIsLeftOut) {
  begin("relu");
  input("self", DType::fp32, {1000}, arithmetic(1000, 0, 1));
  output("result", DType::fp32, {1000}, arithmetic(1000, 0, 1));
  JudgeOptions options;
  options.memory = 4096;
  const JudgedRecord record = only_record(options);
  EXPECT_EQ(record.ruling, Ruling::unknown);
  EXPECT_EQ(record.reason, "its tensors take 7.812 KiB, and --memory allows 4 KiB");
}

}  // namespace opbench
