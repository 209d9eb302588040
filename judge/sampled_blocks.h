#pragma once

#include <cstdint>
#include <vector>

#include "tensor/elements.h"

namespace opbench {

/// The blocks of a tensor (see block) on which it is checked: all of them, or where it has more
/// than `most_elements`, the first, the last, and one drawn from each of equal runs of blocks in
/// between, about `most_elements` in all. The same blocks each time.
class SampledBlocks {
 public:
  SampledBlocks(const TensorDesc& desc, std::int64_t most_elements);

  std::int64_t count() const { return static_cast<std::int64_t>(blocks_.size()); }
  ElementRange at(std::int64_t i) const {
    return block(desc_, blocks_[static_cast<std::size_t>(i)]);
  }

 private:
  const TensorDesc& desc_;
  std::vector<std::int64_t> blocks_;
};

}  // namespace opbench
