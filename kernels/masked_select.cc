// Elements or rows selected by a mask, in sequence: the place of each depends on those before.
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
