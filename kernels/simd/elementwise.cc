#include "kernels/simd/elementwise.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

#include "kernels/simd/streaming.h"
#include "tensor/cache_sizes.h"
#include "tensor/parallel.h"

namespace opbench {

bool outgrows_cache(const Problem& problem) {
  std::size_t bytes = 0;
  for (const TensorDesc& tensor : problem.inputs) bytes += tensor.bytes();
  for (const TensorDesc& tensor : problem.outputs) bytes += tensor.bytes();
  return outgrows_cache(bytes);
}

bool outgrows_cache(std::size_t bytes) {
  // A quarter more still pays to keep. Measured on copies, concat, axpy and casts from 1 to 100
  // MiB. How far beyond depends on the machine.
  const std::size_t own = own_cache_bytes() * static_cast<std::size_t>(thread_count()) * 5 / 4;
  return bytes > own && bytes > streams_from_bytes();
}

std::int64_t stored_elements(const Problem& problem) {
  return problem.outputs.front().storage_elements();
}

Launch elementwise_launch(const Problem& problem,
                          std::function<void(const ElementwisePart& part)> compute) {
  assert(problem.inputs.size() <= std::size(ElementwisePart{}.inputs));
  std::vector<DType> dtypes;
  for (const TensorDesc& input : problem.inputs) dtypes.push_back(input.dtype);
  return
      [compute = std::move(compute), dtypes = std::move(dtypes), result = problem.outputs[0].dtype,
       elements = stored_elements(problem)](const KernelArgs& args) {
        for_each_range(elements, [&](std::int64_t begin, std::int64_t end) {
          ElementwisePart part{
              static_cast<std::size_t>(end - begin), {}, at(args.outputs[0], result, begin)};
          for (std::size_t i = 0; i < args.inputs.size(); ++i)
            part.inputs[i] = at(args.inputs[i], dtypes[i], begin);
          compute(part);
        });
      };
}

void for_each_range(std::int64_t count,
                    const std::function<void(std::int64_t, std::int64_t)>& body) {
  // Threads that are woken for less take longer than they save.
  constexpr std::int64_t kWorthAThread = 16 * 1024;
  const std::int64_t threads = std::clamp<std::int64_t>(count / kWorthAThread, 1, thread_count());
  const std::int64_t share = (count + threads - 1) / threads;
  parallel_ranges(count, (share + kElementwiseGrain - 1) / kElementwiseGrain * kElementwiseGrain,
                  body);
}

}  // namespace opbench
