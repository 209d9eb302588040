#include <gmock/gmock.h>

#include "kernels/kernel.h"
#include "tensor/error.h"
#include "tensor/fill.h"
#include "tests/evaluate.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

const Op& op() { return find_op("trans_data"); }

/// The problem as a case would make it: attributes decide the shape of the input too.
Problem cast(DType dtype, const Dims& shape, Format format, const AttrTexts& texts = {}) {
  const Attrs attrs = attrs_of(op(), texts);
  return make_problem(
      op(), describe_inputs(op(), std::vector<Dims>(1, shape), dtype, format, attrs), attrs);
}

TensorDesc result(DType dtype, const Dims& shape, Format format, const AttrTexts& texts = {}) {
  return cast(dtype, shape, format, texts).outputs[0];
}

template <class Call>
void expect_error(Call call, const std::string& text) {
  EXPECT_THAT(call, ThrowsMessage<Error>(HasSubstr(text)));
}

}  // namespace

TEST(TransDataOp, StoresTheSameTensorInTheFormatAskedFor) {
  const TensorDesc y = result(DType::fp16, {2, 20, 3, 5}, Format::NCHW);
  EXPECT_EQ(y, describe(DType::fp16, {2, 20, 3, 5}, Format::NC1HWC0));
  EXPECT_THAT(y.storage(), ElementsAre(2, 2, 3, 5, 16));
  EXPECT_THAT(result(DType::fp16, {40, 20}, Format::ND, {{"dst_format", "NZ"}}).storage(),
              ElementsAre(2, 3, 16, 16));
  EXPECT_THAT(
      result(DType::fp16, {2, 20, 3, 4, 5}, Format::NDHWC, {{"dst_format", "33"}}).storage(),
      ElementsAre(3 * 2 * 4 * 5, 1, 16, 16));
}

TEST(TransDataOp, C0FollowsTheDtypeUnlessStated) {
  EXPECT_EQ(result(DType::int8, {2, 40, 3, 5}, Format::NCHW).c0, 32);
  EXPECT_EQ(result(DType::fp32, {2, 40, 3, 5}, Format::NCHW).c0, 16);
  EXPECT_EQ(result(DType::fp32, {2, 40, 3, 5}, Format::NCHW, {{"c0", "8"}}).c0, 8);
}

TEST(TransDataOp, AttributesShapeAPrivateInput) {
  const Problem problem = cast(DType::fp32, {32, 2, 3, 3}, Format::FRACTAL_Z,
                               {{"dst_format", "NCHW"}, {"c0", "8"}, {"groups", "4"}});
  EXPECT_EQ(problem.inputs[0].c0, 8);
  EXPECT_EQ(problem.inputs[0].groups, 4);
  EXPECT_EQ(problem.outputs[0], describe(DType::fp32, {32, 2, 3, 3}));
}

TEST(TransDataOp, PlainFormatsFollowTheRank) {
  for (const char* plain : {"ND", "NCHW"}) {
    EXPECT_EQ(result(DType::fp16, {2, 3, 4, 5}, Format::FRACTAL_NZ, {{"dst_format", plain}}).format,
              Format::NCHW);
    EXPECT_EQ(result(DType::fp16, {4, 5}, Format::FRACTAL_NZ, {{"dst_format", plain}}).format,
              Format::ND);
  }
  EXPECT_EQ(result(DType::fp16, {2, 3, 4, 5, 6}, Format::NDC1HWC0, {{"dst_format", "ND"}}).format,
            Format::NCDHW);
}

TEST(TransDataOp, ErrorsNameWhatWasFound) {
  const Dims shape = {2, 3, 4, 5}, shape3d = {2, 3, 4, 5, 6};
  expect_error(
      [] {
        attrs_of(op(), {{"dst_format", "NC4HW4"}});
      },
      "attribute 'dst_format' is 'NC4HW4'; format 'NC4HW4' is unknown; allowed");
  expect_error([] { attrs_of(op(), {{"c0", "4"}}); }, "'c0' is '4'; allowed: 8, 16, 32");
  expect_error([] { attrs_of(op(), {{"groups", "0"}}); }, "'groups' is '0'; it must be 1 or more");
  expect_error([&] { cast(DType::fp16, shape, Format::NC1HWC0); }, "means the same storage");
  expect_error(
      [&] {
        cast(DType::fp16, shape, Format::NCHW, {{"dst_format", "ND"}});
      },
      "x is fp16[2x3x4x5] NCHW and dst_format ND means the same storage");
  expect_error(
      [&] {
        cast(DType::fp16, shape, Format::NCHW, {{"dst_format", "NDC1HWC0"}});
      },
      "NDC1HWC0 needs 5 extents, not 4");
  expect_error([&] { cast(DType::fp16, shape3d, Format::NCDHW); },
               "dst_format NC1HWC0 does not fit x = fp16[2x3x4x5x6] NCDHW");
  expect_error(
      [&] {
        cast(DType::fp16, shape3d, Format::NDC1HWC0, {{"dst_format", "NCHW"}});
      },
      "dst_format NCHW has up to 4 extents, but x is fp16[2x3x4x5x6] NDC1HWC0");
  expect_error(
      [&] {
        cast(DType::fp16, shape, Format::NC1HWC0, {{"dst_format", "NCDHW"}});
      },
      "dst_format NCDHW has 5 extents");
}

TEST(TransDataOp, ErrorsOfBlocksAndGroups) {
  const Dims shape = {6, 3, 4, 5};
  expect_error(
      [&] {
        cast(DType::fp16, shape, Format::NCHW, {{"c0", "8"}});
      },
      "c0 is 8; allowed for fp16: 16");
  expect_error(
      [&] {
        cast(DType::int8, shape, Format::NCHW, {{"c0", "16"}});
      },
      "c0 is 16; allowed for int8: 32");
  expect_error(
      [&] {
        cast(DType::int32, shape, Format::NCHW, {{"c0", "32"}});
      },
      "c0 is 32; allowed for int32: 8 or 16");
  expect_error(
      [&] {
        cast(DType::fp16, shape, Format::NCHW, {{"groups", "2"}});
      },
      "groups is 2 from NCHW to NC1HWC0; only FRACTAL_Z has groups");
  expect_error(
      [&] {
        cast(DType::fp16, shape, Format::NCHW, {{"dst_format", "FZ"}, {"groups", "4"}});
      },
      "4 groups of N = 6");
  TensorDesc x = describe(DType::fp32, shape, Format::NC1HWC0);
  x.c0 = 8;
  expect_error(
      [&] {
        make_problem(op(), {x}, attrs_of(op(), {{"dst_format", "NCHW"}, {"c0", "16"}}));
      },
      "c0 is 16, but x is stored with 8");
}

// C = 3 of 16 lanes: 2 * 3 * 4 elements become 2 * 16 * 4.
TEST(TransDataOp, TrafficCountsPadding) {
  const Problem problem = cast(DType::fp16, {2, 3, 2, 2}, Format::NCHW);
  EXPECT_EQ(op().traffic(problem).bytes_read, 2 * 24);
  EXPECT_EQ(op().traffic(problem).bytes_written, 2 * 128);
}

TEST(TransDataOp, ItsGradientIsTheWayBack) {
  const AttrTexts texts = {{"dst_format", "FRACTAL_Z"}, {"c0", "8"}, {"groups", "2"}};
  const Problem forward = cast(DType::fp32, {4, 3, 1, 1}, Format::NCHW, texts);
  const std::vector<GradientCall> calls = op().gradient(forward);
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].op, "trans_data");
  const Problem back = make_problem(op(), {forward.outputs[0]}, calls[0].attrs);
  EXPECT_EQ(back.outputs[0], forward.inputs[0]);
}

// One image of 3 channels and 2 pixels: (c, w) = 10 c + w. Pixels follow each other, each with 16
// lanes. The lanes after the third are zero.
TEST(TransDataOp, HandComputed) {
  const Problem problem = cast(DType::int32, {1, 3, 1, 2}, Format::NCHW);
  Tensor x(problem.inputs[0]);
  for (int i = 0; i < 6; ++i) x.as<std::int32_t>()[i] = 10 * (i / 2) + i % 2 + 1;
  for (const Kernel* kernel : kernels_of("trans_data")) {
    Tensor y(problem.outputs[0]);
    std::fill_n(y.as<std::int32_t>(), 32, -1);
    run_kernel(*kernel, problem, {&x}, {&y});
    for (int i = 0; i < 32; ++i) {
      const int c = i % 16, w = i / 16;
      EXPECT_EQ(y.as<std::int32_t>()[i], c < 3 ? 10 * c + w + 1 : 0) << kernel->name << ' ' << i;
    }
  }
}

// Two groups of two rows and one channel share one fractal. Rows 2 and 3 have their channel in lane
// 1. Source: FractalGroups.
TEST(TransDataOp, HandComputedGroups) {
  const Problem problem =
      cast(DType::fp16, {4, 1, 1, 1}, Format::NCHW, {{"dst_format", "FZ"}, {"groups", "2"}});
  Tensor x(problem.inputs[0]);
  for (int i = 0; i < 4; ++i) x.as<std::uint16_t>()[i] = static_cast<std::uint16_t>(i + 1);
  for (const char* variant : {"native", "trans_data"}) {
    Tensor y(problem.outputs[0]);
    std::fill_n(y.as<std::uint16_t>(), 256, std::uint16_t{0xFFFF});
    run_kernel(find_kernel("trans_data", variant), problem, {&x}, {&y});
    for (int i = 0; i < 256; ++i) {
      const int row = i / 16, lane = i % 16;
      EXPECT_EQ(y.as<std::uint16_t>()[i], row < 4 && lane == row / 2 ? row + 1 : 0) << variant;
    }
  }
}

TEST(TransDataOp, RefusalsSayWhatAscendHasNot) {
  const Kernel& kernel = find_kernel("trans_data", "trans_data");
  const auto reason = [&](DType dtype, const Dims& shape, Format from, const char* to) {
    return refusal(kernel, cast(dtype, shape, from, {{"dst_format", to}}));
  };
  const Dims shape = {2, 3, 4, 5};
  EXPECT_EQ(reason(DType::fp16, shape, Format::NHWC, "FRACTAL_Z"),
            "Ascend 910 has no TransData from NHWC to FRACTAL_Z");
  EXPECT_EQ(reason(DType::fp16, shape, Format::FRACTAL_Z, "NC1HWC0"),
            "Ascend 910 has no TransData from FRACTAL_Z to NC1HWC0");
  EXPECT_EQ(reason(DType::boolean, shape, Format::NCHW, "NHWC"),
            "Ascend 910 has no TransData of bool");
  EXPECT_EQ(reason(DType::bf16, shape, Format::NCHW, "HWCN"),
            "Ascend 910 has no TransData of bf16 from NCHW to HWCN");
  EXPECT_EQ(reason(DType::int64, shape, Format::NCHW, "NC1HWC0"),
            "Ascend 910 has no TransData of int64 from NCHW to NC1HWC0");
  EXPECT_EQ(reason(DType::int16, shape, Format::NCHW, "NC1HWC0"), "");
  EXPECT_EQ(reason(DType::fp16, shape, Format::NC1HWC0, "FRACTAL_Z"), "");
  EXPECT_EQ(reason(DType::fp16, shape, Format::FRACTAL_NZ, "NC1HWC0"), "");
  EXPECT_EQ(reason(DType::int64, shape, Format::HWCN, "NHWC"), "");
}

}  // namespace opbench
