// A plain tensor in another shape has the same bytes. A framework returns a view. A graph that owns
// its buffers copies, which matters for small tensors only.
#include <cstring>

#include "kernels/kernel.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

Launch prepare(const Problem& problem) {
  const auto bytes = static_cast<std::int64_t>(problem.inputs[0].bytes());
  return [bytes](const KernelArgs& args) {
    constexpr std::int64_t kGrain = 256 * 1024;  // less does not repay waking a thread
    const auto* from = static_cast<const std::byte*>(args.inputs[0]);
    auto* to = static_cast<std::byte*>(args.outputs[0]);
    parallel_ranges(bytes, kGrain, [from, to](std::int64_t begin, std::int64_t end) {
      std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin));
    });
  };
}

const RegisteredKernel native{{
    .op = "reshape",
    .name = "native",
    .provider = Provider::framework,
    .summary = "a copy of the bytes",
    .prepare = prepare,
}};

}  // namespace
}  // namespace opbench
