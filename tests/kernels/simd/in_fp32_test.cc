#include "kernels/simd/in_fp32.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tensor/elements.h"
#include "tensor/parallel.h"
#include "tests/evaluate.h"

namespace opbench {
namespace {

/// y = 2x, computed in fp32 for every dtype. Lengths are around the ranges of threads.
void expect_doubled(DType dtype, std::int64_t count, int threads) {
  const Problem problem = problem_with(find_op("relu"), {{count}}, {}, dtype);
  Tensor x(problem.inputs[0]), y(problem.outputs[0]);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 100) / 4;
  from_doubles(dtype, values.data(), count, x.data());
  with_threads(threads, [&] {
    const Launch launch = in_fp32(problem, [&](const KernelArgs& args) {
      const auto* from = static_cast<const float*>(args.inputs[0]);
      std::transform(from, from + count, static_cast<float*>(args.outputs[0]),
                     [](float value) { return 2 * value; });
    });
    const void* inputs[] = {x.data()};
    void* outputs[] = {y.data()};
    launch({inputs, outputs});
  });
  std::vector<double> result(values.size());
  read_doubles(y.desc, y.data(), {0, count}, result);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= 2;
  EXPECT_EQ(result, values) << name(dtype) << " " << count;
}

std::size_t bytes_of(DType dtype) {
  return in_fp32_bytes(problem_with(find_op("relu"), {{10}}, {}, dtype));
}

}  // namespace

TEST(InFp32, ComputesEveryDtypeInFp32) {
  for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
    for (const std::int64_t count : {1, 63, 64, 65, 1000}) {
      for (const int threads : {1, 3}) expect_doubled(dtype, count, threads);
    }
  }
}

// The input and the output are copied, at 4 bytes an element. fp32 is used in place.
TEST(InFp32, SaysHowMuchItTakes) {
  EXPECT_EQ(bytes_of(DType::fp16), 80u);
  EXPECT_EQ(bytes_of(DType::bf16), 80u);
  EXPECT_EQ(bytes_of(DType::fp32), 0u);
}

}  // namespace opbench
