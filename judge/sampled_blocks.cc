#include "judge/sampled_blocks.h"

#include <algorithm>
#include <numeric>

#include "tensor/random.h"

namespace opbench {
namespace {

// One of `from` to `to - 1`.
std::int64_t drawn(std::int64_t from, std::int64_t to) {
  const auto place = static_cast<std::uint64_t>(from);
  const std::uint32_t number =
      philox4x32({static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(place >> 32), 0, 0},
                 {0, 0})[0];
  return from + static_cast<std::int64_t>(number % static_cast<std::uint64_t>(to - from));
}

}  // namespace

SampledBlocks::SampledBlocks(const TensorDesc& desc, std::int64_t most_elements) : desc_(desc) {
  const std::int64_t all = block_count(desc), elements = desc.elements();
  std::int64_t wanted = all;
  if (elements > most_elements) {
    const double share = static_cast<double>(most_elements) / static_cast<double>(elements);
    wanted = std::max<std::int64_t>(3, static_cast<std::int64_t>(static_cast<double>(all) * share));
  }
  if (wanted >= all) {
    blocks_.resize(static_cast<std::size_t>(all));
    std::iota(blocks_.begin(), blocks_.end(), std::int64_t{0});
    return;
  }
  const std::int64_t runs = wanted - 2, between = all - 2;
  blocks_.push_back(0);
  for (std::int64_t i = 0; i < runs; ++i) {
    blocks_.push_back(drawn(1 + i * between / runs, 1 + (i + 1) * between / runs));
  }
  blocks_.push_back(all - 1);
}

}  // namespace opbench
