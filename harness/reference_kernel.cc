#include "harness/reference_kernel.h"

#include <vector>

#include "tensor/parallel.h"

namespace opbench {
namespace {

// Rounds the expected values of one block to the output's dtype and stores them.
void store_block(const TensorDesc& desc, void* storage, ElementRange range,
                 std::span<const double> expected) {
  thread_local std::vector<std::byte> rounded;
  rounded.resize(expected.size() * size_of(desc.dtype));
  from_doubles(desc.dtype, expected.data(), range.count, rounded.data());
  write_elements(desc, storage, range, rounded.data());
}

Launch prepare(const Problem& problem) {
  return [problem](const KernelArgs& args) {
    std::vector<InputReader> inputs;
    for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
      inputs.emplace_back(problem.inputs[i], args.inputs[i]);
    }
    const Reference reference = problem.op->reference(inputs, problem.attrs);
    for (std::size_t output = 0; output < problem.outputs.size(); ++output) {
      for_each_expected_block(
          reference, output, problem.outputs[output],
          [&](std::int64_t, ElementRange range, std::span<const double> expected) {
            store_block(problem.outputs[output], args.outputs[output], range, expected);
          });
    }
  };
}

const Kernel kReference{
    .op = "",
    .name = kReferenceVariant,
    .provider = Provider::framework,
    .summary = "the fp64 reference, rounded to the output's dtype",
    .prepare = prepare,
};

}  // namespace

Selection select_reference(const Graph& graph) {
  return {std::string(kReferenceVariant),
          std::vector<const Kernel*>(graph.nodes.size(), &kReference),
          {}};
}

void for_each_expected_block(
    const Reference& reference, std::size_t output, const TensorDesc& desc,
    const std::function<void(std::int64_t, ElementRange, std::span<const double>)>& body) {
  parallel_blocks(block_count(desc), [&](std::int64_t i) {
    thread_local std::vector<double> expected;
    const ElementRange range = block(desc, i);
    expected.resize(static_cast<std::size_t>(range.count));
    reference(output, range, expected);
    body(i, range, expected);
  });
}

}  // namespace opbench
