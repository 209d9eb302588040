// Parts of rows are copied, the others set to zero.
#include <algorithm>
#include <cstring>

#include "kernels/kernel.h"
#include "kernels/simd/elementwise.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

template <bool kIsUpper>
Launch prepare(const Problem& problem) {
  const TensorDesc& x = problem.inputs[0];
  const std::int64_t columns = x.shape.back(), rows = x.shape.end()[-2];
  return [dtype = x.dtype, rows, columns, all = columns == 0 ? 0 : x.elements() / columns,
          diagonal = problem.attrs.integer("diagonal")](const KernelArgs& args) {
    parallel_ranges(all, std::max<std::int64_t>(1, 4096 / std::max<std::int64_t>(1, columns)),
                    [&](std::int64_t begin, std::int64_t end) {
                      for (std::int64_t i = begin; i < end; ++i) {
                        const std::int64_t border = std::clamp<std::int64_t>(
                            i % rows + diagonal + (kIsUpper ? 0 : 1), 0, columns);
                        const std::int64_t kept = i * columns + (kIsUpper ? border : 0);
                        const std::int64_t other = i * columns + (kIsUpper ? 0 : border);
                        const auto bytes = [&](std::int64_t elements) {
                          return static_cast<std::size_t>(elements) * size_of(dtype);
                        };
                        const std::int64_t count = kIsUpper ? columns - border : border;
                        std::memcpy(at(args.outputs[0], dtype, kept),
                                    at(args.inputs[0], dtype, kept), bytes(count));
                        std::memset(at(args.outputs[0], dtype, other), 0, bytes(columns - count));
                      }
                    });
  };
}

const RegisteredKernel kKernels[] = {
    RegisteredKernel({.op = "triu",
                      .name = "native",
                      .provider = Provider::framework,
                      .summary = "a part of each row copied, the other set to zero",
                      .prepare = prepare<true>}),
    RegisteredKernel({.op = "tril",
                      .name = "native",
                      .provider = Provider::framework,
                      .summary = "a part of each row copied, the other set to zero",
                      .prepare = prepare<false>}),
};

}  // namespace
}  // namespace opbench
