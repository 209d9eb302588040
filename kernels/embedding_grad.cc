// The rows of a table in order: the rows of the gradient that belong to a row are added in fp32 in
// their order and rounded once.
#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/simd/cube.h"
#include "ops/index.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

/// The rows of the gradient for each row of the table: `rows[starts[r]]` to `rows[starts[r + 1]]`,
/// in order.
struct RowsOfTable {
  std::vector<std::int64_t> starts, rows;

  template <class Index>
  void sort(const Index* indices, std::int64_t padding) {
    std::fill(starts.begin(), starts.end(), 0);
    const auto place = [&](std::size_t i) { return static_cast<std::size_t>(indices[i]); };
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (indices[i] != padding) ++starts[place(i) + 2];
    }
    for (std::size_t r = 2; r < starts.size(); ++r) starts[r] += starts[r - 1];
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (indices[i] == padding) continue;
      rows[static_cast<std::size_t>(starts[place(i) + 1]++)] = static_cast<std::int64_t>(i);
    }
  }
};

struct EmbeddingGrad {
  DType dtype, index_dtype;
  std::int64_t columns, padding, table;
  RowsOfTable sorted;

  explicit EmbeddingGrad(const Problem& problem)
      : dtype(problem.inputs[0].dtype),
        index_dtype(problem.inputs[1].dtype),
        columns(problem.inputs[0].shape.back()),
        padding(problem.attrs.integer("padding_idx")),
        table(problem.outputs[0].shape[0]) {
    // One more element than starts: while rows are distributed, each counts in the place before.
    sorted.starts.resize(static_cast<std::size_t>(table) + 2);
    sorted.rows.resize(static_cast<std::size_t>(problem.inputs[1].elements()));
  }

  void operator()(const KernelArgs& args) {
    if (index_dtype == DType::int64) {
      sorted.sort(static_cast<const std::int64_t*>(args.inputs[1]), padding);
    } else {
      sorted.sort(static_cast<const std::int32_t*>(args.inputs[1]), padding);
    }
    parallel_ranges(table, 16, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t r = begin; r < end; ++r) sum_row(args, r);
    });
  }

  void sum_row(const KernelArgs& args, std::int64_t row) const {
    thread_local std::vector<float> sums, values;
    sums.assign(static_cast<std::size_t>(columns), 0.0f);
    values.resize(sums.size());
    const auto at_row = static_cast<std::size_t>(row);
    for (std::int64_t i = sorted.starts[at_row]; i < sorted.starts[at_row + 1]; ++i) {
      const std::int64_t from = sorted.rows[static_cast<std::size_t>(i)] * columns;
      load_floats(dtype, at(args.inputs[0], dtype, from), columns, values.data());
      for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += values[c];
    }
    store_floats(dtype, sums.data(), columns, at(args.outputs[0], dtype, row * columns));
  }
};

std::size_t sorted_bytes(const Problem& problem) {
  return sizeof(std::int64_t) *
         static_cast<std::size_t>(problem.outputs[0].shape[0] + 2 + problem.inputs[1].elements());
}

const RegisteredKernel native{{
    .op = "embedding_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "indices sorted, then every row of the table added up in fp32 and written once",
    .prepare = [](const Problem& problem) -> Launch { return EmbeddingGrad(problem); },
    .temporary_bytes = sorted_bytes,
}};

}  // namespace
}  // namespace opbench
