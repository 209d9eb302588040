// index_select and gather as an element loop: every output element finds its row and looks it up.
#include "kernels/move/element_copy.h"
#include "kernels/registry/kernel.h"
#include "ops/gather.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kGrainElements = 16 * 1024;  // worth waking a thread for

template <class T, class Index>
void gather_range(const GatherView& view, std::int64_t begin, std::int64_t end, const T* x,
                  const Index* index, T* y) {
  for (std::int64_t element = begin; element < end; ++element) {
    const std::int64_t position = element % view.row, rows = element / view.row;
    const std::int64_t slice = rows / view.count;  // of batch * outer
    const std::int64_t batch = slice / view.outer;
    const std::int64_t from =
        view.row_of(std::int64_t{index[batch * view.count + rows % view.count]});
    y[element] = from < 0 ? T{} : x[(slice * view.extent + from) * view.row + position];
  }
}

Launch launch(const Problem& problem, const GatherView& view) {
  const std::size_t bytes = size_of(problem.inputs[0].dtype);
  const bool is_int64 = problem.inputs[1].dtype == DType::int64;
  return [=, elements = problem.outputs[0].elements()](const KernelArgs& args) {
    parallel_ranges(elements, kGrainElements, [&](std::int64_t begin, std::int64_t end) {
      visit_width(bytes, [&](auto tag) {
        const auto* x = static_cast<const decltype(tag)*>(args.inputs[0]);
        auto* y = static_cast<decltype(tag)*>(args.outputs[0]);
        if (is_int64) {
          gather_range(view, begin, end, x, static_cast<const std::int64_t*>(args.inputs[1]), y);
        } else {
          gather_range(view, begin, end, x, static_cast<const std::int32_t*>(args.inputs[1]), y);
        }
      });
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

const RegisteredKernel native_index_select{{
    .op = "index_select",
    .name = "native",
    .provider = Provider::framework,
    .summary = "element loop, an index looked up for each",
    .prepare = index_select,
}};

const RegisteredKernel native_gather{{
    .op = "gather",
    .name = "native",
    .provider = Provider::framework,
    .summary = "element loop, an index looked up for each",
    .prepare = gather,
}};

}  // namespace
}  // namespace opbench
