// index_select and gather as a framework does them: a copy for every row that the index names.
#include <algorithm>

#include "kernels/gather_rows.h"
#include "kernels/registry/kernel.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kGrainBytes = 64 << 10;  // worth waking a thread for

Launch launch(const Problem& problem, const GatherView& view) {
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

Launch index_select(const Problem& problem) {
  return launch(problem,
                index_select_view(problem.inputs[0].shape, problem.inputs[1].shape, problem.attrs));
}

Launch gather(const Problem& problem) {
  return launch(problem,
                gather_view(problem.inputs[0].shape, problem.inputs[1].shape, problem.attrs));
}

constexpr std::string_view kSummary = "row after row, a copy for each that the index names";

const RegisteredKernel native_index_select{{
    .op = "index_select",
    .name = "native",
    .provider = Provider::framework,
    .summary = kSummary,
    .prepare = index_select,
}};

const RegisteredKernel native_gather{{
    .op = "gather",
    .name = "native",
    .provider = Provider::framework,
    .summary = kSummary,
    .prepare = gather,
}};

}  // namespace
}  // namespace opbench
