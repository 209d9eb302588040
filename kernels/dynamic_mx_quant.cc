// Blocks that share a power of two, one after the other.
#include "ops/dynamic_mx_quant.h"

#include <algorithm>

#include "kernels/simd/cube.h"
#include "kernels/simd/scratch.h"
#include "kernels/simd/steps.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

// The numbers of a block.
void load_block(DType dtype, const void* x, const MxBlock& block, float* to) {
  if (block.inner == 1) return load_floats(dtype, at(x, dtype, block.first), block.count, to);
  block.for_each([&](std::int64_t i) { load_floats(dtype, at(x, dtype, i), 1, to++); });
}

Launch prepare(const Problem& problem) {
  return [blocks = MxBlocks(problem.inputs[0].shape, problem.attrs), rule = MxRule(problem.attrs),
          dtype = problem.inputs[0].dtype](const KernelArgs& args) {
    auto* const y = static_cast<std::uint8_t*>(args.outputs[0]);
    auto* const scales = static_cast<std::uint8_t*>(args.outputs[1]);
    const std::int64_t pairs = blocks.pairs();
    parallel_ranges(blocks.outer * pairs, 16, [&](std::int64_t begin, std::int64_t end) {
      thread_local AlignedFloats memory;
      memory.resize(std::min(blocks.size, blocks.extent));
      float* const numbers = memory.data();
      for (std::int64_t p = begin; p < end; ++p) {
        blocks.for_each_of(p / pairs, p % pairs, [&](const MxBlock& block) {
          load_block(dtype, args.inputs[0], block, numbers);
          const float most = block.count == 0 ? 0 : range_of(numbers, block.count).magnitude();
          const std::uint8_t scale = scales[block.scale] = rule.scale_code(most);
          rule.steps(numbers, block.count, scale, y + block.first, block.inner);
        });
      }
    });
  };
}

const RegisteredKernel native{{
    .op = "dynamic_mx_quant",
    .name = "native",
    .provider = Provider::framework,
    .summary = "a block at a time; exact, as DynamicMxQuant",
    .prepare = prepare,
}};

}  // namespace
}  // namespace opbench
