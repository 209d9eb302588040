// Elements or rows selected by a mask, in sequence: the place of each depends on those before.
#include <algorithm>
#include <cstring>

#include "kernels/kernel.h"

namespace opbench {
namespace {

const bool* mask_of(const KernelArgs& args) { return static_cast<const bool*>(args.inputs[1]); }

Launch select(const Problem& problem) {
  const std::int64_t places = problem.inputs[1].elements();
  const auto row = places == 0 ? 0 : problem.inputs[0].bytes() / static_cast<std::size_t>(places);
  return [places, row, size = problem.outputs[0].bytes()](const KernelArgs& args) {
    const bool* const mask = mask_of(args);
    const auto* from = static_cast<const std::byte*>(args.inputs[0]);
    auto* to = static_cast<std::byte*>(args.outputs[0]);
    std::size_t done = 0;
    for (std::int64_t i = 0; i < places; ++i, from += row) {
      if (!mask[i]) continue;
      std::memcpy(to + done, from, row);
      done += row;
    }
    std::memset(to + done, 0, size - done);
  };
}

Launch scatter(const Problem& problem) {
  const std::int64_t places = problem.inputs[1].elements();
  const auto row = places == 0 ? 0 : problem.outputs[0].bytes() / static_cast<std::size_t>(places);
  return [places, row, size = problem.inputs[0].bytes()](const KernelArgs& args) {
    const bool* const mask = mask_of(args);
    const auto* source = static_cast<const std::byte*>(args.inputs[0]);
    const auto* other =
        args.inputs.size() > 2 ? static_cast<const std::byte*>(args.inputs[2]) : nullptr;
    auto* to = static_cast<std::byte*>(args.outputs[0]);
    std::size_t done = 0;
    for (std::int64_t i = 0; i < places; ++i, to += row) {
      if (mask[i] && done < size) {
        std::memcpy(to, source + done, row);
        done += row;
      } else if (other == nullptr) {
        std::memset(to, 0, row);
      } else {
        std::memcpy(to, other + static_cast<std::size_t>(i) * row, row);
      }
    }
  };
}

// A floating number is 0 if no bit but the sign is set. The coordinates are counted along, so that
// no place is divided.
Launch find_nonzero(const Problem& problem) {
  const TensorDesc& x = problem.inputs[0];
  return [shape = x.shape, count = x.elements(), size = size_of(x.dtype),
          has_sign = is_floating(x.dtype),
          rows = problem.outputs[0].shape[0]](const KernelArgs& args) {
    visit_width(size, [&]<class T>(T) {
      const T sign = has_sign ? T(T(1) << (8 * sizeof(T) - 1)) : T(0);
      const T* const values = static_cast<const T*>(args.inputs[0]);
      auto* const to = static_cast<std::int64_t*>(args.outputs[0]);
      const auto rank = shape.size();
      std::int64_t place[kLargestRank] = {}, done = 0;
      for (std::int64_t i = 0; i < count; ++i) {
        if ((values[i] & T(~sign)) != 0 && done < rows) {
          std::copy_n(place, rank, to + done++ * static_cast<std::int64_t>(rank));
        }
        for (std::size_t axis = rank; axis-- > 0 && ++place[axis] == shape[axis];) place[axis] = 0;
      }
      std::fill(to + done * static_cast<std::int64_t>(rank),
                to + rows * static_cast<std::int64_t>(rank), 0);
    });
  };
}

const RegisteredKernel native_nonzero{{
    .op = "nonzero",
    .name = "native",
    .provider = Provider::framework,
    .summary = "one element after the other, its coordinates written if it is not 0",
    .prepare = find_nonzero,
}};

const RegisteredKernel native_select{{
    .op = "masked_select",
    .name = "native",
    .provider = Provider::framework,
    .summary = "one place of the mask after the other, copied if it is true",
    .prepare = select,
}};

const RegisteredKernel native_scatter{{
    .op = "masked_scatter",
    .name = "native",
    .provider = Provider::framework,
    .summary = "one place of the mask after the other, each copied from the source",
    .prepare = scatter,
}};

}  // namespace
}  // namespace opbench
