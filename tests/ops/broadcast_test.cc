// Tests element-wise operators of two inputs with different shapes, and the sums that are their
// gradients.
#include "ops/broadcast.h"

#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/conforms.h"
#include "tests/evaluate.h"
#include "tests/ops/finite_difference.h"
#include "tests/support.h"
#include "tests/support/peers.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::string_view kOps[] = {"add", "mul", "axpy"};

Problem use_of(std::string_view name, const std::vector<Dims>& shapes, DType dtype = DType::fp32,
               Format format = Format::NCHW) {
  return problem_with(find_op(name), shapes, {}, dtype, format);
}

/// Returns the number of variants that take the problem.
int expect_variants_conform(std::string_view name, const Problem& problem) {
  int held = 0;
  for (const Kernel* kernel : kernels_of(name)) {
    for (const int threads : {1, 2}) {
      held += expect_conforms(*kernel, problem, threads) ? 1 : 0;
    }
  }
  return held;
}

}  // namespace

TEST(Broadcast, HandComputed) {
  const Given x{DType::fp32, {2, 3}, {1, 2, 3, 4, 5, 6}}, row{DType::fp32, {3}, {10, 20, 40}};
  EXPECT_THAT(reference_of_tensors("add", {x, row})[0], ElementsAre(11, 22, 43, 14, 25, 46));
  EXPECT_THAT(reference_of_tensors("mul", {row, x})[0], ElementsAre(10, 40, 120, 40, 100, 240));
  EXPECT_THAT(reference_of_tensors("axpy", {x, row}, {{"alpha", "0.5"}})[0],
              ElementsAre(6, 12, 23, 9, 15, 26));
  EXPECT_THAT(reference_of_tensors("add", {x, {DType::fp32, {}, {100}}})[0],
              ElementsAre(101, 102, 103, 104, 105, 106));
  // Source: torch 1.13. Neither input has the shape of the result.
  EXPECT_THAT(reference_of_tensors("mul", {{DType::fp32, {2, 1}, {1, 2}},
                                           {DType::fp32, {2, 1, 2}, {3, 5, 7, 9}}})[0],
              ElementsAre(3, 5, 6, 10, 7, 9, 14, 18));
}

TEST(Broadcast, ShapesAreAlignedAtTheLastAxis) {
  const auto shape = [](const Dims& a, const Dims& b) {
    return use_of("add", {a, b}).outputs[0].shape;
  };
  EXPECT_EQ(shape({2, 3}, {3}), (Dims{2, 3}));
  EXPECT_EQ(shape({}, {2, 3}), (Dims{2, 3}));
  EXPECT_EQ(shape({4, 1, 6}, {5, 1}), (Dims{4, 5, 6}));
  EXPECT_EQ(shape({3, 0}, {1}), (Dims{3, 0}));
  EXPECT_EQ(shape({1, 3}, {0, 1}), (Dims{0, 3}));
  EXPECT_EQ(use_of("add", {{2, 3, 4, 5}, {3, 1, 1}}).outputs[0].format, Format::NCHW);
}

TEST(Broadcast, NamesWhatItRefuses) {
  for (const std::string_view name : kOps) {
    const auto refused = [&](const std::vector<Dims>& shapes, Format format, const char* text) {
      EXPECT_THAT([&] { use_of(name, shapes, DType::fp32, format); },
                  ThrowsMessage<Error>(HasSubstr(text)))
          << name;
    };
    refused({{2, 3}, {2}}, Format::ND,
            "inputs of shapes 2x3 and 2 are 3 and 2 long on axis 1 of 2; allowed: equal extents, "
            "or 1");
    refused({{0, 3}, {2, 3}}, Format::ND, "are 0 and 2 long on axis 0 of 2");
    refused({{2, 16, 3, 3}, {2, 1, 3, 3}}, Format::NC1HWC0,
            "inputs are fp32[2x16x3x3] NC1HWC0 and fp32[2x1x3x3] NC1HWC0; allowed: alike");
    // Vectors of channels are stored along another axis than the last.
    refused({{2, 16, 3, 3}, {3}}, Format::NC1HWC0, "fp32[3] NC1HWC0; allowed: alike");
    refused({{32, 16}, {1, 16}}, Format::FRACTAL_NZ, "fp32[1x16] FRACTAL_NZ; allowed: alike");
    refused({{32, 16, 1, 1}, {1, 16, 1, 1}}, Format::FRACTAL_Z, "allowed: alike");
  }
}

// Runs and pieces have every length, and threads begin in the middle of rows.
TEST(Broadcast, VariantsConform) {
  const std::vector<std::vector<Dims>> all = {{{7, 3}, {3}},
                                              {{3}, {7, 3}},
                                              {{5, 1}, {1, 6}},
                                              {{}, {3000}},
                                              {{2, 3, 5, 7}, {3, 1, 1}},
                                              {{2, 3, 5, 7}, {2, 1, 5, 1}},
                                              {{2, 1, 5, 7}, {1, 3, 1, 7}},
                                              {{3, 1, 2049}, {3, 4, 1}},
                                              {{40, 1030}, {1030}},
                                              {{40, 1030}, {40, 1}},
                                              {{40, 1, 1023}, {2, 1023}},
                                              {{1, 4, 1}, {4}},
                                              {{0, 3}, {3}}};
  on_every_isa([&] {
    for (const std::string_view name : kOps) {
      for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
        for (const std::vector<Dims>& shapes : all) {
          EXPECT_GT(expect_variants_conform(name, use_of(name, shapes, dtype)), 0);
        }
      }
    }
  });
}

TEST(Broadcast, VariantsConformInBlocksOfChannels) {
  const std::vector<std::vector<Dims>> all = {{{2, 32, 5, 7}, {1, 32, 1, 1}},
                                              {{1, 18, 1, 7}, {3, 18, 5, 1}},
                                              {{1, 1, 1, 1}, {2, 18, 3, 3}},
                                              {{2, 18, 3, 3}, {1}},
                                              {{2, 18, 3, 3}, {}}};
  for (const std::string_view name : kOps) {
    for (const std::vector<Dims>& shapes : all) {
      const Problem problem = use_of(name, shapes, DType::fp16, Format::NC1HWC0);
      EXPECT_EQ(problem.outputs[0].format, Format::NC1HWC0);
      EXPECT_GT(expect_variants_conform(name, problem), 1);
    }
  }
}

// The result has the promoted dtype of all inputs, also of broadcast ones.
TEST(Broadcast, PromotesWhatItRepeats) {
  const Given x{DType::fp16, {2, 2}, {2048, 1, -1, 0.5}}, one{DType::fp32, {}, {1}};
  for (const bool first : {true, false}) {
    const Values sums =
        kernel_on_tensors("add", "native", first ? std::vector{one, x} : std::vector{x, one});
    EXPECT_THAT(sums[0], ElementsAre(2049, 2, 0, 1.5));
  }
}

// 3*683/2048 = 1 + 2^-11 is a tie of fp16. If a row is repeated, Axpy's vmuls and vadd round the
// product first; vaxpy rounds only the sum.
TEST(Broadcast, AxpyOfRepeatedRowsRoundsTwice) {
  const Given x{DType::fp16, {2, 1}, {0x1p-11, 0x1p-11}};
  const auto of = [&](const Dims& shape, const std::vector<double>& values) {
    return kernel_on_tensors("axpy", "axpy", {x, {DType::fp16, shape, values}},
                             {{"alpha", "3"}})[0];
  };
  EXPECT_THAT(of({1}, {683.0 / 2048}), ElementsAre(1, 1));
  EXPECT_THAT(of({2, 1}, {683.0 / 2048, 683.0 / 2048}), ElementsAre(1 + 0x1p-10, 1 + 0x1p-10));
}

TEST(Broadcast, OneDnnSaysWhatItDoesNotRepeat) {
  if (peer_of("axpy") == nullptr) GTEST_SKIP() << "built without oneDNN";
  const auto refused = [](std::string_view name, const std::vector<Dims>& shapes, Format format) {
    return refusal(find_kernel(name, "onednn"), use_of(name, shapes, DType::fp32, format));
  };
  EXPECT_EQ(refused("axpy", {{2, 3}, {3}}, Format::ND), "oneDNN's sum does not broadcast");
  EXPECT_EQ(refused("add", {{2, 1}, {1, 3}}, Format::ND), "oneDNN broadcasts one of two tensors");
  EXPECT_EQ(refused("mul", {{2, 16, 3, 3}, {1}}, Format::NC1HWC0),
            "oneDNN broadcasts whole blocks of channels");
}

// The engine of contexts requires whole blocks if shapes differ.
TEST(Broadcast, EngineRefusesPartialBlocks) {
  EXPECT_EQ(broadcast_engine_refusal(
                use_of("add", {{2, 18, 3, 3}, {1, 18, 1, 1}}, DType::fp16, Format::NC1HWC0)),
            "add: C=18 is not a multiple of 16 and the shapes differ");
  EXPECT_EQ(broadcast_engine_refusal(
                use_of("add", {{2, 32, 3, 3}, {1, 32, 1, 1}}, DType::fp16, Format::NC1HWC0)),
            "");
  EXPECT_EQ(broadcast_engine_refusal(use_of("add", {{2, 18, 3, 3}, {18, 1, 1}})), "");
}

TEST(Broadcast, GradientsAgreeWithFiniteDifferences) {
  for (const std::string_view name : kOps) {
    const std::string op(name);
    expect_gradients({op, {spread({2, 3}), spread({3}, 1)}});
    expect_gradients({op, {spread({}), spread({2, 3}, 1)}});
    expect_gradients({op, {spread({2, 1, 3}), spread({4, 1}, 1)}});
  }
}

// Source: torch 1.13, sum_to_size of 0, 1, ... 23.
TEST(SumToSize, HandComputed) {
  Given x{DType::fp32, {2, 3, 4}, {}};
  for (int i = 0; i < 24; ++i) x.values.push_back(i);
  const auto sums = [&](const char* size) {
    return reference_of_tensors("sum_to_size", {x}, {{"size", size}})[0];
  };
  EXPECT_THAT(sums("[3,1]"), ElementsAre(60, 92, 124));
  EXPECT_THAT(sums("[1,4]"), ElementsAre(60, 66, 72, 78));
  EXPECT_THAT(sums("[]"), ElementsAre(276));
  EXPECT_EQ(sums("[2,3,4]"), x.values);
}

TEST(SumToSize, VariantsConform) {
  const auto held = [](const Dims& shape, const char* size, Format format) {
    return expect_variants_conform(
        "sum_to_size",
        problem_with(find_op("sum_to_size"), {shape}, {{"size", size}}, DType::fp16, format));
  };
  EXPECT_EQ(held({5, 33, 70}, "[70]", Format::ND), 4);
  EXPECT_EQ(held({5, 33, 70}, "[33,1]", Format::ND), 4);
  EXPECT_EQ(held({5, 3, 7}, "[5,1,7]", Format::ND), 4);
  EXPECT_EQ(held({0, 3}, "[3]", Format::ND), 4);
  EXPECT_EQ(held({2, 18, 5, 7}, "[1,18,1,1]", Format::NC1HWC0), 4);
  EXPECT_EQ(held({2, 18, 5, 7}, "[2,18,1,7]", Format::NC1HWC0), 4);
  EXPECT_EQ(held({2, 18, 5, 7}, "[]", Format::NC1HWC0), 4);
  EXPECT_EQ(held({2, 18, 5, 7}, "[2,1,5,7]", Format::NC1HWC0), 0) << "padding would be added";
}

TEST(SumToSize, OneDnnConformsOrSaysWhyNot) {
  const Kernel& kernel = find_kernel("sum_to_size", "onednn");
  const auto use = [](const char* size, Format format = Format::ND) {
    const Dims shape = format == Format::ND ? Dims{5, 33, 70} : Dims{2, 16, 5, 7};
    return problem_with(find_op("sum_to_size"), {shape}, {{"size", size}}, DType::fp32, format);
  };
  for (const char* size : {"[70]", "[33,70]", "[1,1,70]", "[]"}) {
    EXPECT_TRUE(expect_conforms(kernel, use(size), 2)) << size;
  }
  // The CPU decides for which axes oneDNN has fast code.
  const std::string slow = "oneDNN has reference code only for these axes";
  for (const char* size : {"[5,33,1]", "[5,1,70]"}) {
    if (!expect_conforms(kernel, use(size), 2)) {
      EXPECT_EQ(refusal(kernel, use(size)), slow) << size;
    }
  }
  EXPECT_EQ(refusal(kernel, use("[5,33,70]")), "no axis is summed");
  EXPECT_EQ(refusal(kernel, use("[1,16,1,1]", Format::NC1HWC0)), "oneDNN sums plain tensors here");
}

TEST(SumToSize, NamesWhatItRefuses) {
  const Op& op = find_op("sum_to_size");
  const auto refused = [&](const char* size, const char* text) {
    EXPECT_THAT(
        [&] {
          problem_with(op, {{2, 3}}, {{"size", size}}, DType::fp32);
        },
        ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused("[2]", "sum_to_size: size is 2 and 'self' has shape 2x3; allowed: a size whose extents");
  refused("[1,2,3]", "size is 1x2x3");
  refused("-1", "its extents must be 0 or more");
}

}  // namespace opbench
