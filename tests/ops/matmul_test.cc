#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/conforms.h"
#include "tests/ops/finite_difference.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// [1 2 3; 4 5 6] [1 0; 0 1; 1 1] = [4 5; 10 11].
TEST(MatMul, HandComputed) {
  const Given a{DType::fp32, {2, 3}, {1, 2, 3, 4, 5, 6}},
      b{DType::fp32, {3, 2}, {1, 0, 0, 1, 1, 1}};
  const Given at{DType::fp32, {3, 2}, {1, 4, 2, 5, 3, 6}};
  const Given bt{DType::fp32, {2, 3}, {1, 0, 1, 0, 1, 1}};
  EXPECT_THAT(reference_of_tensors("matmul", {a, b})[0], ElementsAre(4, 5, 10, 11));
  EXPECT_THAT(reference_of_tensors("matmul", {at, b}, {{"transpose_a", "true"}})[0],
              ElementsAre(4, 5, 10, 11));
  EXPECT_THAT(reference_of_tensors("matmul", {a, bt}, {{"transpose_b", "true"}})[0],
              ElementsAre(4, 5, 10, 11));
  EXPECT_THAT(reference_of_tensors("matmul", {at, bt},
                                   {{"transpose_a", "true"}, {"transpose_b", "true"}})[0],
              ElementsAre(4, 5, 10, 11));
}

// A batch of two products. A sum of no terms is 0.
TEST(MatMul, BatchesAndEmptySums) {
  EXPECT_THAT(reference_of_tensors("matmul", {{DType::fp32, {2, 1, 2}, {1, 2, 3, 4}},
                                              {DType::fp32, {2, 2, 1}, {5, 6, 7, 8}}})[0],
              ElementsAre(17, 53));
  EXPECT_THAT(
      reference_of_tensors("matmul", {{DType::fp32, {1, 0}, {}}, {DType::fp32, {0, 2}, {}}})[0],
      ElementsAre(0, 0));
}

// x w^T + b with x = [1 2], w = [3 4; 5 6]: [11 17] + [10 20].
TEST(Linear, HandComputed) {
  const Given x{DType::fp32, {1, 2}, {1, 2}}, w{DType::fp32, {2, 2}, {3, 4, 5, 6}};
  EXPECT_THAT(reference_of_tensors("linear", {x, w})[0], ElementsAre(11, 17));
  EXPECT_THAT(reference_of_tensors("linear", {x, w, {DType::fp32, {2}, {10, 20}}})[0],
              ElementsAre(21, 37));
}

TEST(BiasGrad, SumsAllAxesButTheChannels) {
  EXPECT_THAT(reference_of_tensors("bias_grad",
                                   {{DType::fp32, {2, 2, 2}, {1, 2, 3, 4, 10, 20, 30, 40}}})[0],
              ElementsAre(33, 77));
}

// Tests 1, 2 and more blocks of 16 columns. Rows past the last hold NaN.
TEST(BiasGrad, SumsTheColumnsOfFractals) {
  const Kernel& kernel = find_kernel("bias_grad", "bias_add_grad");
  const Op& op = find_op("bias_grad");
  for (const DType dtype : {DType::fp32, DType::fp16}) {
    for (const Dims& shape : {Dims{1, 1}, Dims{16, 16}, Dims{17, 15}, Dims{70, 33}, Dims{5, 300}}) {
      const Problem problem = problem_with(op, {shape}, {}, dtype, Format::FRACTAL_NZ);
      EXPECT_TRUE(expect_conforms(kernel, problem, 2)) << to_string(shape);
    }
  }
  EXPECT_EQ(refusal(kernel, problem_with(op, {{2, 3, 4}}, {}, DType::fp16, Format::FRACTAL_NZ)),
            "of FRACTAL_NZ the columns of a matrix are summed up");
}

TEST(MatMul, GradientsAgreeWithFiniteDifferences) {
  for (const char* a : {"false", "true"}) {
    for (const char* b : {"false", "true"}) {
      const Dims first = *a == 't' ? Dims{2, 3, 2} : Dims{2, 2, 3};
      const Dims second = *b == 't' ? Dims{2, 4, 3} : Dims{2, 3, 4};
      expect_gradients(
          {"matmul", {spread(first), spread(second, 1)}, {{"transpose_a", a}, {"transpose_b", b}}});
    }
  }
}

TEST(Linear, GradientsAgreeWithFiniteDifferences) {
  expect_gradients({"linear", {spread({3, 2}), spread({4, 2}, 1), spread({4}, 2)}});
  expect_gradients({"linear", {spread({3, 2}), spread({4, 2}, 1)}});
}

// The cube unit rounds its operands to fp16, which has 11 bits: 1 + 2^-12 becomes 1.
TEST(MatMul, CubeNarrowsOperandsNotSums) {
  const std::vector<Given> ab = {{DType::fp32, {1, 2}, {1 + 0x1p-12, 1}},
                                 {DType::fp32, {2, 1}, {1, 0x1p-12}}};
  EXPECT_THAT(kernel_on_tensors("matmul", "mat_mul_v2", ab)[0], ElementsAre(1 + 0x1p-12));
  EXPECT_THAT(kernel_on_tensors("matmul", "native", ab)[0], ElementsAre(1 + 0x1p-11));
}

// fp16 holds the operands, but fp32 does not hold all products and sums. Another order of the
// additions or other roundings would give other bits.
TEST(MatMul, NativeAddsInTheOrderOfTheCube) {
  const auto factor = [](std::int64_t rows, std::int64_t columns) {
    Given given{DType::fp32, {rows, columns}, {}};
    for (std::int64_t i = 0; i < rows * columns; ++i) {
      given.values.push_back((i % 3 == 0 ? -1 : 1) * (1 + double(i * 37 % 1021) / 1024));
    }
    return given;
  };
  for (const std::int64_t rows : {5, 65}) {
    const std::vector<Given> ab = {factor(rows, 257), factor(257, 97)};
    EXPECT_EQ(kernel_on_tensors("matmul", "native", ab),
              kernel_on_tensors("matmul", "mat_mul_v2", ab))
        << rows << " rows";
  }
}

TEST(MatMul, NamesWhatItRefuses) {
  const Op& op = find_op("matmul");
  EXPECT_THAT(
      [&] {
        problem_with(op, {{2, 3}, {2, 3}}, {}, DType::fp32);
      },
      ThrowsMessage<Error>(HasSubstr("matmul: 2x3 times 2x3 needs as many columns in the "
                                     "first factor as rows in the second, found 3 and 2")));
  EXPECT_THAT(
      [&] {
        problem_with(op, {{3}, {3}}, {}, DType::fp32);
      },
      ThrowsMessage<Error>(HasSubstr("allowed: two or more axes, as many in both")));
  EXPECT_THAT(
      [&] {
        problem_with(op, {{2, 1, 3}, {1, 3, 1}}, {}, DType::fp32);
      },
      ThrowsMessage<Error>(HasSubstr("nothing is broadcast")));
  const Op& linear = find_op("linear");
  EXPECT_THAT(
      [&] {
        problem_with(linear, {{2, 3}, {4, 3}, {3}}, {}, DType::fp32);
      },
      ThrowsMessage<Error>(HasSubstr("linear: 'bias' has shape 3; allowed: 4")));
  EXPECT_THAT(
      [&] {
        problem_with(linear, {{2, 3, 1}, {4, 3}}, {}, DType::fp32);
      },
      ThrowsMessage<Error>(HasSubstr("allowed: [N, K] and [M, K]")));
  EXPECT_THAT(
      [&] {
        problem_with(linear, {{2, 3}}, {}, DType::fp32);
      },
      ThrowsMessage<Error>(HasSubstr("linear takes 2 to 3 input tensors, found 1")));
  const Problem bf16 = problem_with(op, {{2, 3}, {3, 2}}, {}, DType::bf16);
  EXPECT_THAT(refusal(find_kernel("matmul", "mat_mul_v2"), bf16), HasSubstr("not bf16"));
}

TEST(MatMul, CountsOperations) {
  const Op& op = find_op("matmul");
  const Problem problem = problem_with(op, {{5, 2, 3}, {5, 3, 4}}, {}, DType::fp32);
  EXPECT_EQ(op.traffic(problem).operations, 2 * 5 * 2 * 3 * 4);
  EXPECT_EQ(op.traffic(problem).bytes(), 4 * 5 * (6 + 12 + 8));
}

}  // namespace opbench
