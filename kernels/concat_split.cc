// ConcatD and SplitD: rows of the inputs joined, and rows of the input divided.
#include <fmt/format.h>

#include "kernels/copy/row_copy.h"
#include "kernels/simd/elementwise.h"
#include "ops/movement.h"

namespace opbench {
namespace {

/// The bytes of one repetition of a tensor along `axis` of the problem's shapes: the storage seen
/// as [outer, bytes].
struct Part {
  std::int64_t outer;
  std::int64_t bytes;

  Part(const TensorDesc& desc, std::size_t axis) {
    // NC1HWC0 (N, C1, H, W, C0) keeps the order of the axes; C becomes C1.
    const AxisView view(desc.storage(), axis);
    outer = view.outer;
    bytes = view.extent * view.inner * static_cast<std::int64_t>(size_of(desc.dtype));
  }
};

std::size_t axis_of_problem(const Problem& problem) {
  return axis_of(problem.op->name, problem.inputs[0].shape, problem.attrs.integer("axis"));
}

// The rows of all parts joined are a row of the whole.
RowPlan concat_plan(const Problem& problem) {
  const std::size_t axis = axis_of_problem(problem);
  RowPlan plan{.outer = Part(problem.outputs[0], axis).outer, .input_strides = {}, .outputs = {{}}};
  for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
    const std::int64_t bytes = Part(problem.inputs[i], axis).bytes;
    plan.input_strides.push_back(bytes);
    plan.outputs[0].push_back({i, 0, bytes});
  }
  return plan;
}

RowPlan split_plan(const Problem& problem) {
  const std::size_t axis = axis_of_problem(problem);
  const Part whole(problem.inputs[0], axis);
  RowPlan plan{.outer = whole.outer, .input_strides = {whole.bytes}, .outputs = {}};
  std::int64_t offset = 0;
  for (const TensorDesc& output : problem.outputs) {
    const std::int64_t bytes = Part(output, axis).bytes;
    plan.outputs.push_back({{0, offset, bytes}});
    offset += bytes;
  }
  return plan;
}

// In NC1HWC0 the channels can be cut only between blocks.
std::string refuse_channels(const Problem& problem, std::string_view what,
                            std::span<const TensorDesc> parts) {
  if (problem.inputs[0].format != Format::NC1HWC0 || axis_of_problem(problem) != 1) return {};
  for (const TensorDesc& part : parts) {
    if (part.shape[1] % part.c0 == 0) continue;
    return fmt::format(
        "{} of C = {} does not fill whole blocks of {}: needs TransData to NCHW "
        "and back",
        what, part.shape[1], part.c0);
  }
  return {};
}

std::string refuse_low_rank(const Problem& problem) {
  if (problem.inputs[0].format != Format::NC1HWC0 || problem.inputs[0].shape.size() == 4) return {};
  return "NC1HWC0 is joined and cut in four dimensions only";
}

std::string refuse_concat(const Problem& problem) {
  const std::string reason = refuse_low_rank(problem);
  // The last part may end inside a block.
  const std::span<const TensorDesc> all(problem.inputs);
  return reason.empty() ? refuse_channels(problem, "an input", all.first(all.size() - 1)) : reason;
}

std::string refuse_split(const Problem& problem) {
  const std::string reason = refuse_low_rank(problem);
  return reason.empty() ? refuse_channels(problem, "an output", problem.outputs) : reason;
}

const RegisteredKernel concat_d{{
    .op = "concat",
    .name = "concat_d",
    .provider = Provider::npu,
    .summary = "ConcatD: whole rows of every input, put together to lines and streamed",
    .refusal = refuse_concat,
    .prepare =
        [](const Problem& problem) {
          return copy_rows(concat_plan(problem), outgrows_cache(problem));
        },
}};

const RegisteredKernel split_d{{
    .op = "split",
    .name = "split_d",
    .family = "concat_d",
    .provider = Provider::npu,
    .summary = "SplitD: whole rows dealt to the outputs, streamed",
    .refusal = refuse_split,
    .prepare =
        [](const Problem& problem) {
          return copy_rows(split_plan(problem), outgrows_cache(problem));
        },
}};

}  // namespace
}  // namespace opbench
