// Blocks that share a power of two, one after the other.
#include "ops/dynamic_mx_quant.h"

#include <cmath>

#include "kernels/simd/cube.h"
#include "kernels/simd/elementwise.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

float number_at(DType dtype, const void* x, std::int64_t i) {
  float number;
  load_floats(dtype, at(x, dtype, i), 1, &number);
  return number;
}

Launch prepare(const Problem& problem) {
  return [blocks = MxBlocks(problem.inputs[0].shape, problem.attrs), rule = MxRule(problem.attrs),
          dtype = problem.inputs[0].dtype](const KernelArgs& args) {
    auto *const y = static_cast<std::uint8_t*>(args.outputs[0]), *const scales =
                                                                     static_cast<std::uint8_t*>(
                                                                         args.outputs[1]);
    parallel_ranges(blocks.outer, 16, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t o = begin; o < end; ++o) {
        blocks.for_each_of(o, [&](const MxBlock& block) {
          float most = 0;
          block.for_each([&](std::int64_t i) {
            const float magnitude = std::fabs(number_at(dtype, args.inputs[0], i));
            most = std::isnan(magnitude) || magnitude > most ? magnitude : most;
          });
          const std::uint8_t scale = scales[block.scale] = rule.scale_code(most);
          block.for_each([&](std::int64_t i) {
            y[i] = rule.step(number_at(dtype, args.inputs[0], i), scale);
          });
        });
      }
    });
  };
}

const RegisteredKernel native{{
    .op = "dynamic_mx_quant",
    .name = "native",
    .provider = Provider::framework,
    .summary = "an element at a time; exact, as DynamicMxQuant",
    .prepare = prepare,
}};

}  // namespace
}  // namespace opbench
