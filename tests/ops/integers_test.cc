#include "ops/integers.h"

#include <gmock/gmock.h>

#include <limits>

#include "kernels/kernel.h"
#include "tests/evaluate.h"
#include "tests/ops/values.h"

namespace opbench {

using testing::ElementsAre;

namespace {

using Numbers = std::vector<std::int64_t>;

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

Tensor int64_tensor(const Numbers& values) {
  Tensor tensor(describe(DType::int64, {std::ssize(values)}));
  std::copy(values.begin(), values.end(), tensor.as<std::int64_t>());
  return tensor;
}

/// The exact reference on int64, which the variant must equal.
Numbers agreed(std::string_view op, const std::vector<Numbers>& values) {
  std::vector<Tensor> inputs;
  std::vector<TensorDesc> descs;
  std::vector<InputReader> readers;
  for (const Numbers& one : values) inputs.push_back(int64_tensor(one));
  for (const Tensor& input : inputs) descs.push_back(input.desc);
  for (const Tensor& input : inputs) readers.emplace_back(input.desc, input.data());
  const Problem problem = make_problem(find_op(op), descs, Attrs(find_op(op).attrs));
  EXPECT_TRUE(is_exact(problem));
  Numbers expected(values[0].size());
  problem.op->exact_reference(readers, problem.attrs)(0, {0, std::ssize(expected)},
                                                      expected.data());
  Tensor y = int64_tensor(expected);
  std::vector<const Tensor*> pointers;
  for (const Tensor& input : inputs) pointers.push_back(&input);
  run_kernel(find_kernel(op, "native"), problem, pointers, {&y});
  EXPECT_EQ(Numbers(y.as<std::int64_t>(), y.as<std::int64_t>() + expected.size()), expected) << op;
  return expected;
}

}  // namespace

// fp64 holds no whole number beyond 2^53 but even ones.
TEST(Integers, AreExactBeyondFp64) {
  const Numbers a = {kMost, kLeast, (std::int64_t{1} << 53) + 1, 3037000500};
  const Numbers b = {1, -1, 2, 3037000500};
  EXPECT_THAT(agreed("add", {a, b}),
              ElementsAre(kLeast, kMost, (std::int64_t{1} << 53) + 3, 6074001000));
  EXPECT_THAT(agreed("sub", {a, b}),
              ElementsAre(kMost - 1, kLeast + 1, (std::int64_t{1} << 53) - 1, 0));
  EXPECT_THAT(agreed("mul", {a, b}),
              ElementsAre(kMost, kLeast, (std::int64_t{1} << 54) + 2, -9223372036709301616));
  EXPECT_THAT(agreed("neg", {a}),
              ElementsAre(-kMost, kLeast, -(std::int64_t{1} << 53) - 1, -3037000500));
  EXPECT_THAT(agreed("maximum", {{kMost, kMost - 1}, {kMost - 1, kMost}}),
              ElementsAre(kMost, kMost));
  EXPECT_THAT(agreed("minimum", {{kMost, kMost - 1}, {kMost - 1, kMost}}),
              ElementsAre(kMost - 1, kMost - 1));
}

// Modulo 2^bits: the smallest number is its own negative and magnitude.
TEST(Integers, WrapInEveryDType) {
  expect_values("add", {{DType::int8, {2}, {127, -128}}, {DType::int8, {2}, {1, -1}}}, {-128, 127});
  expect_values("mul", {{DType::uint8, {2}, {255, 16}}, {DType::uint8, {2}, {255, 16}}}, {1, 0});
  expect_values("sub", {{DType::uint8, {1}, {3}}, {DType::uint8, {1}, {5}}}, {254});
  expect_values("mul", {{DType::int32, {1}, {65536}}, {DType::int32, {1}, {65536}}}, {0});
  expect_values("neg", {{DType::int16, {2}, {-32768, 5}}}, {-32768, -5});
  expect_values("abs", {{DType::int8, {3}, {-128, -5, 7}}}, {-128, 5, 7});
  expect_values("abs", {{DType::uint8, {1}, {200}}}, {200});
}

TEST(Integers, AreBroadcast) {
  expect_values("add", {{DType::int16, {2, 1}, {10, 20}}, {DType::int16, {3}, {1, 2, 3}}},
                {11, 12, 13, 21, 22, 23});
  expect_values("gt", {{DType::int64, {4}, {1, 2, 3, 4}}, {DType::int64, {}, {2}}}, {0, 0, 1, 1});
  expect_values("eq", {mask({2}, {0, 1}), mask({2}, {1, 1})}, {0, 1});
}

TEST(Integers, EveryLength) {
  for (const std::size_t count : kLengths) {
    const Given column{
        DType::int64, {static_cast<std::int64_t>(count), 1}, std::vector<double>(count, 3)};
    const Given row{DType::int64, {5}, {1, 2, 3, 4, 5}}, one{DType::int64, {}, {7}};
    agreed_values("mul", {column, row});
    agreed_values("sub", {column, one});
    Given a{DType::int8, {static_cast<std::int64_t>(count)}, {}}, b = a;
    for (std::size_t i = 0; i < count; ++i) {
      a.values.push_back(double(i % 100));
      b.values.push_back(double(i % 28));
    }
    const std::vector<double> sums = kernel_on_tensors("add", "native", {a, b})[0];
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(sums[i], double(i % 100 + i % 28));
  }
}

TEST(Integers, DevicesAndLibrariesTakeThemOnlyIfTheyListThem) {
  const auto refused = [](const char* op, const char* variant, DType dtype) {
    return refusal(find_kernel(op, variant), problem_with(find_op(op), {{4}, {4}}, {}, dtype));
  };
  EXPECT_EQ(refused("add", "native", DType::int64), "");
  EXPECT_EQ(refused("add", "onednn", DType::int32), "it takes floating dtypes only");
  for (const char* op : {"add", "sub", "mul", "maximum", "minimum"}) {
    EXPECT_EQ(refused(op, op, DType::int32), "");
    EXPECT_EQ(refused(op, op, DType::int64), "it takes fp32, fp16, bf16, int32 only, found int64");
  }
  const Given x{DType::int32, {2}, {2147483647, -5}}, y{DType::int32, {2}, {1, 3}};
  EXPECT_THAT(kernel_on_tensors("add", "add", {x, y})[0], ElementsAre(-2147483648.0, -2));
  EXPECT_THAT(kernel_on_tensors("minimum", "minimum", {x, y})[0], ElementsAre(1, -5));
}

}  // namespace opbench
