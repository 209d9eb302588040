#include "harness/run/storage_range.h"

#include <vector>

#include "tensor/elements.h"

namespace opbench {

ValueRange storage_range(const TensorDesc& desc, const void* storage, DType counted_as) {
  ValueRange range;
  range.dtype = counted_as;
  if (!is_floating(desc.dtype)) return range;
  std::vector<double> values;
  for (std::int64_t i = 0; i < block_count(desc); ++i) {
    const ElementRange part = block(desc, i);
    values.resize(static_cast<std::size_t>(part.count));
    read_doubles(desc, storage, part, values);
    range.add(values.data(), part.count);
  }
  return range;
}

}  // namespace opbench
