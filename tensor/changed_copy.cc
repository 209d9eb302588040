#include "tensor/changed_copy.h"

#include <vector>

#include "tensor/elements.h"
#include "tensor/parallel.h"

namespace opbench {

Buffer changed_copy(const TensorDesc& desc, const void* storage,
                    const std::function<double(std::int64_t place, double value)>& change) {
  Buffer copy(static_cast<std::size_t>(desc.storage_elements()) * size_of(desc.dtype));
  parallel_blocks(block_count(desc), [&](std::int64_t i) {
    const ElementRange range = block(desc, i);
    thread_local std::vector<double> values;
    thread_local std::vector<std::byte> rounded;
    values.resize(static_cast<std::size_t>(range.count));
    rounded.resize(values.size() * size_of(desc.dtype));
    read_doubles(desc, storage, range, values);
    for (std::size_t k = 0; k < values.size(); ++k) {
      values[k] = change(range.first + static_cast<std::int64_t>(k), values[k]);
    }
    from_doubles(desc.dtype, values.data(), range.count, rounded.data());
    write_elements(desc, copy.data(), range, rounded.data());
  });
  return copy;
}

}  // namespace opbench
