// Strided views made contiguous, and transposition: Transpose, AsStrided and the framework's
// contiguous_with_gatherv2.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "kernels/copy/row_copy.h"
#include "kernels/copy/strided_copy.h"
#include "kernels/simd/elementwise.h"
#include "ops/movement.h"
#include "ops/rearrange.h"
#include "ops/view_text.h"
#include "tensor/shape.h"

namespace opbench {
namespace {

StridedView transposed(const Problem& problem) {
  const Dims& shape = problem.inputs[0].shape;
  return permute(dense_view(shape), transpose_perm(shape, problem.attrs));
}

StridedView viewed_by(const Problem& problem) {
  return parse_view(problem.attrs.word("view"), problem.inputs[0].shape);
}

Launch copy_view(const Problem& problem, const StridedView& view) {
  StridedNest nest{static_cast<int>(size_of(problem.inputs[0].dtype)), view.offset, 0, {}};
  const Dims to_strides = dense_view(view.shape).strides;
  for (std::size_t i = 0; i < view.shape.size(); ++i) {
    nest.loops.push_back({view.shape[i], view.strides[i], to_strides[i]});
  }
  const auto copy = std::make_shared<StridedCopy>(std::move(nest), outgrows_cache(problem));
  return [copy](const KernelArgs& args) { copy->run(args.inputs[0], args.outputs[0]); };
}

Launch transpose(const Problem& problem) { return copy_view(problem, transposed(problem)); }
Launch as_strided(const Problem& problem) { return copy_view(problem, viewed_by(problem)); }

// True if the view has every element of the base once: sorted by stride, each axis begins where the
// previous one ends.
bool is_permutation(const StridedView& view, std::int64_t elements) {
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;  // stride, extent
  for (std::size_t i = 0; i < view.shape.size(); ++i) {
    if (view.shape[i] != 1) axes.emplace_back(view.strides[i], view.shape[i]);
  }
  std::sort(axes.begin(), axes.end());
  std::int64_t reached = 1;
  for (const auto& [stride, extent] : axes) {
    if (stride != reached) return false;
    reached *= extent;
  }
  return reached == elements;
}

std::string refuse_unless_permutation(const Problem& problem) {
  const std::int64_t elements = problem.inputs[0].elements();
  if (elements == 0 || is_permutation(viewed_by(problem), elements)) return {};
  return "the view is not a permutation of all elements: Transpose takes no slices, steps or "
         "repeats";
}

/// A view as rows selected from its base: [outer] repetitions of rows of one length.
struct ViewRows {
  RowPlan plan;
  std::string refusal;

  explicit ViewRows(const Problem& problem) {
    const StridedView view = viewed_by(problem);
    const auto bytes = static_cast<std::int64_t>(size_of(problem.inputs[0].dtype));
    // The innermost dense axes are a row.
    std::size_t axes = view.shape.size();
    std::int64_t row = 1;
    while (axes > 0 && (view.shape[axes - 1] == 1 || view.strides[axes - 1] == row)) {
      row *= view.shape[--axes];
    }
    if (row == 1)
      refusal = "the view's last axis is strided: GatherV2 would gather single elements";
    if (!refusal.empty()) return;
    // One repetition for every index of the first axis; the rest is a table of rows.
    const bool has_outer = axes > 0;
    plan.outer = has_outer ? view.shape[0] : 1;
    plan.input_strides = {has_outer ? view.strides[0] * bytes : 0};
    plan.outputs.resize(1);
    constexpr std::int64_t kMostRows = 1 << 20;  // bounds the table's memory
    std::int64_t rows = 1;
    for (std::size_t i = 1; i < axes; ++i) rows *= view.shape[i];
    if (rows > kMostRows) {
      refusal =
          fmt::format("{} rows in one index of the first axis; at most {} are kept as a table",
                      rows, kMostRows);
      return;
    }
    if (rows * plan.outer == 0 || row == 0) return;
    for (std::int64_t r = 0; r < rows; ++r) {
      std::int64_t offset = view.offset, rest = r;
      for (std::size_t i = axes; i-- > 1;) {
        offset += rest % view.shape[i] * view.strides[i];
        rest /= view.shape[i];
      }
      plan.outputs[0].push_back({0, offset * bytes, row * bytes});
    }
  }
};

Launch gather_rows(const Problem& problem) {
  return copy_rows(ViewRows(problem).plan, outgrows_cache(problem));
}

const RegisteredKernel transpose_kernel{{
    .op = "transpose",
    .name = "transpose",
    .provider = Provider::npu,
    .summary = "Transpose: squares turned in registers, rows and blocks where neighbours stay "
               "neighbours; streamed",
    .prepare = transpose,
}};

const RegisteredKernel as_strided_kernel{{
    .op = "contiguous",
    .name = "as_strided",
    .provider = Provider::npu,
    .summary = "AsStrided: any view, rows or planes where it has them",
    .prepare = as_strided,
}};

const RegisteredKernel gather_kernel{{
    .op = "contiguous",
    .name = "gather_v2",
    .provider = Provider::npu,
    .summary = "contiguous_with_gatherv2: the view as a table of rows",
    .refusal = [](const Problem& problem) { return ViewRows(problem).refusal; },
    .prepare = gather_rows,
}};

const RegisteredKernel transpose_view{{
    .op = "contiguous",
    .name = "transpose",
    .provider = Provider::npu,
    .summary = "Transpose, where the view is a permutation",
    .refusal = refuse_unless_permutation,
    .prepare = as_strided,
}};

}  // namespace
}  // namespace opbench
