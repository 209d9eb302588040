#include "harness/run/condition.h"

#include <cmath>
#include <vector>

#include "compare/measure/magnitudes.h"
#include "tensor/buffer.h"
#include "tensor/parallel.h"
#include "tensor/philox.h"

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

// A copy of a floating tensor in which every element is changed, one way or the other.
Buffer changed(const TensorDesc& desc, const void* storage, std::uint64_t seed) {
  Buffer copy(static_cast<std::size_t>(desc.storage_elements()) * size_of(desc.dtype));
  parallel_blocks(block_count(desc), [&](std::int64_t i) {
    const ElementRange range = block(desc, i);
    thread_local std::vector<double> values;
    thread_local std::vector<std::byte> rounded;
    values.resize(static_cast<std::size_t>(range.count));
    rounded.resize(values.size() * size_of(desc.dtype));
    read_doubles(desc, storage, range, values);
    for (std::size_t k = 0; k < values.size(); ++k) {
      const auto place = static_cast<std::uint64_t>(range.first) + k;
      const bool up = (sign_bits(seed, place) & 1U) != 0;
      values[k] *= up ? 1 + kChange : 1 - kChange;
    }
    from_doubles(desc.dtype, values.data(), range.count, rounded.data());
    write_elements(desc, copy.data(), range, rounded.data());
  });
  return copy;
}

}  // namespace

double condition_scale(const NodeToJudge& what, std::size_t output) {
  const Problem& problem = what.node.problem;
  std::vector<Buffer> copies(what.node.inputs.size());
  std::vector<InputReader> given, moved;
  for (std::size_t i = 0; i < what.node.inputs.size(); ++i) {
    const TensorDesc& desc = problem.inputs[i];
    const void* storage = what.storage(what.node.inputs[i]);
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
