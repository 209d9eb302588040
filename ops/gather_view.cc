#include <algorithm>

#include "ops/gather.h"

namespace opbench {

ExactReference gathered(std::span<const InputReader> inputs, const GatherView& view) {
  return moved(
      inputs.first(1),
      [view, index = inputs[1].read_index()](std::size_t, std::int64_t element) -> SourceRun {
        const std::int64_t position = element % view.row, rows = element / view.row;
        const std::int64_t slice = rows / view.count;  // index of batch and outer
        const std::int64_t batch = slice / view.outer;
        const std::int64_t from =
            view.row_of(index[static_cast<std::size_t>(batch * view.count + rows % view.count)]);
        if (from < 0) return {SourceRun::kZeros, 0, view.row - position};
        return {0, (slice * view.extent + from) * view.row + position, view.row - position};
      });
}

GatherView gather_view(const Problem& problem) {
  const Dims &x = problem.inputs[0].shape, &index = problem.inputs[1].shape;
  if (problem.op->name == "embedding") return embedding_view(x, index);
  return problem.op->name == "gather" ? gather_view(x, index, problem.attrs)
                                      : index_select_view(x, index, problem.attrs);
}

Traffic gather_traffic(const Problem& problem) {
  const double written = double(problem.outputs[0].bytes());
  return {.bytes_read = std::min(double(problem.inputs[0].bytes()), written) +
                        double(problem.inputs[1].bytes()),
          .bytes_written = written};
}

}  // namespace opbench
