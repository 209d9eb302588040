// index_select, gather and embedding like a framework: one copy for every indexed row.
#include <algorithm>

#include "kernels/gather_rows.h"
#include "kernels/kernel.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kGrainBytes = 64 << 10;  // less does not repay waking a thread

Launch prepare(const Problem& problem) {
  const GatherView view = gather_view(problem);
  const std::int64_t bytes = view.row * static_cast<std::int64_t>(size_of(problem.inputs[0].dtype));
  const std::int64_t rows = bytes == 0 ? 0 : view.batch * view.outer * view.count;
  const std::int64_t grain =
      std::max<std::int64_t>(1, kGrainBytes / std::max<std::int64_t>(1, bytes));
  return [=, is_int64 = problem.inputs[1].dtype == DType::int64](const KernelArgs& args) {
    parallel_ranges(rows, grain, [&](std::int64_t begin, std::int64_t end) {
      const auto* x = static_cast<const std::byte*>(args.inputs[0]);
      auto* y = static_cast<std::byte*>(args.outputs[0]);
      const auto copy = [&](const auto* index) {
        copy_gathered_rows(view, index, begin, end, static_cast<std::size_t>(bytes), x, y);
      };
      if (is_int64) return copy(static_cast<const std::int64_t*>(args.inputs[1]));
      copy(static_cast<const std::int32_t*>(args.inputs[1]));
    });
  };
}

Kernel native(std::string_view op) {
  return {.op = op,
          .name = "native",
          .provider = Provider::framework,
          .summary = "row by row, one copy for each index",
          .prepare = prepare};
}

const RegisteredKernel kKernels[] = {
    RegisteredKernel(native("index_select")),
    RegisteredKernel(native("gather")),
    RegisteredKernel(native("embedding")),
};

}  // namespace
}  // namespace opbench
