#include "harness/plan/reference_kernel.h"

#include <functional>
#include <span>
#include <vector>

#include "harness/plan/context.h"
#include "harness/plan/selected_kernels.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

/// Writes the reference's elements of `range` in the output's storage dtype.
using GoldenBits = std::function<void(std::size_t output, ElementRange range, void* to)>;

GoldenBits golden_bits(const Problem& problem, std::span<const InputReader> inputs) {
  const Op& op = *problem.op;
  if (is_exact(problem)) return op.exact_reference(inputs, problem.attrs);
  return [&problem, reference = op.reference(inputs, problem.attrs)](std::size_t output,
                                                                     ElementRange range, void* to) {
    thread_local std::vector<double> values;
    values.resize(static_cast<std::size_t>(range.count));
    reference(output, range, values);
    from_doubles(problem.outputs[output].dtype, values.data(), range.count, to);
  };
}

Launch prepare(const Problem& problem) {
  return [problem](const KernelArgs& args) {
    std::vector<InputReader> inputs;
    for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
      inputs.emplace_back(problem.inputs[i], args.inputs[i]);
    }
    const GoldenBits golden = golden_bits(problem, inputs);
    for (std::size_t output = 0; output < problem.outputs.size(); ++output) {
      const TensorDesc& desc = problem.outputs[output];
      parallel_blocks(block_count(desc), [&](std::int64_t i) {
        thread_local std::vector<std::byte> bits;
        const ElementRange range = block(desc, i);
        bits.resize(static_cast<std::size_t>(range.count) * size_of(desc.dtype));
        golden(output, range, bits.data());
        write_elements(desc, args.outputs[output], range, bits.data());
      });
    }
  };
}

const Kernel kReference{
    .op = "",
    .name = kReferenceVariant,
    .provider = Provider::framework,
    .summary = "the reference, rounded to the output's dtype",
    .prepare = prepare,
};

}  // namespace

const Kernel& reference_kernel() { return kReference; }

SelectedKernels select_reference(const Graph& graph) {
  return {std::string(kReferenceVariant),
          std::vector<const Kernel*>(graph.nodes.size(), &kReference),
          {}};
}

}  // namespace opbench
