// A product in fp32, added to a broadcast tensor and rounded once.
#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/packed_matmul.h"
#include "kernels/simd/cube.h"
#include "kernels/simd/scratch.h"
#include "ops/broadcast.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

// The product without `self`, in fp32.
Problem product_of(const Problem& problem) {
  const Op& op = find_op("matmul");
  Problem product = make_problem(op, {problem.inputs[1], problem.inputs[2]}, Attrs(op.attrs));
  product.outputs[0].dtype = DType::fp32;
  return product;
}

/// The elements of self for each element of the result, with their factor.
struct Added {
  DType dtype, result;
  BroadcastView view;
  std::int64_t elements;
  float alpha, beta;

  explicit Added(const Problem& problem)
      : dtype(problem.inputs[0].dtype),
        result(problem.outputs[0].dtype),
        view(problem.inputs[0].shape, problem.outputs[0].shape),
        elements(problem.outputs[0].elements()),
        alpha(static_cast<float>(problem.attrs.number("alpha"))),
        beta(static_cast<float>(problem.attrs.number("beta"))) {}

  // product = alpha*product + beta*self
  void add(const void* self, ElementRange range, float* product) const {
    constexpr std::int64_t kPiece = 1024;  // elements; 4 KiB of fp32
    float values[kPiece];
    for (std::int64_t i = 0; alpha != 1 && i < range.count; ++i) product[i] *= alpha;
    if (beta == 0) return;
    view.for_each_run(range, [&](const BroadcastRun& run, std::int64_t place) {
      for (std::int64_t done = 0; done < run.count; done += kPiece) {
        const std::int64_t count = std::min(kPiece, run.count - done);
        const std::int64_t loaded = run.step == 0 ? 1 : count;
        load_floats(dtype, at(self, dtype, run.first + done * run.step), loaded, values);
        float* const to = product + place + done;
        for (std::int64_t i = 0; i < count; ++i) to[i] += beta * values[i * run.step];
      }
    });
  }
};

template <LoadFactor kLoad>
Launch prepare(const Problem& problem) {
  const auto product = std::make_shared<Scratch>(problem.outputs[0].elements());
  return [added = Added(problem), product,
          multiply = packed_matmul(product_of(problem), kLoad)](const KernelArgs& args) {
    constexpr std::int64_t kGrain = 4096;  // elements; fewer do not repay waking a thread
    void* const sums = product->data();
    multiply({args.inputs.subspan(1), {&sums, 1}});
    parallel_ranges(added.elements, kGrain, [&](std::int64_t begin, std::int64_t end) {
      float* const part = product->data() + begin;
      added.add(args.inputs[0], {begin, end - begin}, part);
      store_floats(added.result, part, end - begin, at(args.outputs[0], added.result, begin));
    });
  };
}

template <LoadFactor kLoad>
std::size_t temporaries(const Problem& problem) {
  const auto elements = static_cast<std::size_t>(problem.outputs[0].elements());
  return packed_matmul_bytes(product_of(problem), kLoad) + elements * sizeof(float);
}

const RegisteredKernel native{{
    .op = "addmm",
    .name = "native",
    .provider = Provider::framework,
    .summary = "fp32 product of packed factors, plus self, rounded once",
    .prepare = prepare<load_floats>,
    .temporary_bytes = temporaries<load_floats>,
}};

const RegisteredKernel mat_mul_v2{{
    .op = "addmm",
    .name = "mat_mul_v2",
    .provider = Provider::npu,
    .summary = "MatMulV2, BatchMatMul: fp16 operands, fp32 sums, to which self is added",
    .refusal = cube_refusal,
    .prepare = prepare<load_operands>,
    .judged_as = DType::fp16,
    .temporary_bytes = temporaries<load_operands>,
}};

}  // namespace
}  // namespace opbench
