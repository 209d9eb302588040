#include "judge/condition.h"

#include <cmath>
#include <vector>

#include "judge/magnitudes.h"
#include "tensor/elements.h"
#include "tensor/random.h"

namespace opbench {
namespace {

// More than the last place of every dtype, and little enough for most functions to be straight.
constexpr double kChange = 0x1p-5;
constexpr std::int64_t kBlocks = 4;

std::uint32_t sign_bits(std::uint64_t seed, std::uint64_t place) {
  const auto low = static_cast<std::uint32_t>(place),
             high = static_cast<std::uint32_t>(place >> 32);
  return philox4x32({low, high, 0, 0}, {static_cast<std::uint32_t>(seed), 0})[0];
}

// Every element larger or smaller.
Buffer changed(const TensorDesc& desc, const void* storage, std::uint64_t seed) {
  return changed_copy(desc, storage, [seed](std::int64_t place, double value) {
    const bool up = (sign_bits(seed, static_cast<std::uint64_t>(place)) & 1U) != 0;
    return value * (up ? 1 + kChange : 1 - kChange);
  });
}

}  // namespace

double condition_scale(const CallToJudge& what, std::size_t output) {
  const Problem& problem = what.problem;
  std::vector<Buffer> copies(what.inputs.size());
  std::vector<InputReader> given, moved;
  for (std::size_t i = 0; i < what.inputs.size(); ++i) {
    const TensorDesc& desc = problem.inputs[i];
    const void* storage = what.inputs[i];
    given.emplace_back(desc, storage);
    if (is_floating(desc.dtype)) copies[i] = changed(desc, storage, i);
    moved.emplace_back(desc, is_floating(desc.dtype) ? copies[i].data() : storage);
  }
  const Reference before = problem.op->reference(given, problem.attrs);
  const Reference after = problem.op->reference(moved, problem.attrs);
  const TensorDesc& desc = problem.outputs[output];
  const std::int64_t blocks = block_count(desc), looked_at = std::min(blocks, kBlocks);
  Magnitudes changes;
  for (std::int64_t i = 0; i < looked_at; ++i) {
    const ElementRange range = block(desc, i * blocks / looked_at);
    std::vector<double> a(static_cast<std::size_t>(range.count)), b(a.size());
    before(output, range, a);
    after(output, range, b);
    for (std::size_t k = 0; k < a.size(); ++k) a[k] = (b[k] - a[k]) / kChange;
    changes.add(a.data(), range.count);
  }
  return changes.scale();
}

}  // namespace opbench
