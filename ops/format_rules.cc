#include "ops/format_rules.h"

#include <fmt/format.h>

namespace opbench {

std::int64_t unaligned_channels(std::span<const TensorDesc> tensors) {
  for (const TensorDesc& tensor : tensors) {
    const Dims& shape = tensor.shape;
    if (shape.empty()) continue;
    const std::int64_t channels = shape.size() == 1 ? shape[0] : shape[1];
    if (channels % 16 != 0) return channels;
  }
  return 0;
}

std::optional<FormatChoice> blocked_images(const FormatQuery& query) {
  if (!query.is_on_device || query.problem.inputs[0].shape.size() != 4) return std::nullopt;
  return FormatChoice{Format::NC1HWC0,
                      fmt::format("{}: the device has it in NC1HWC0 only", query.problem.op->name)};
}

std::optional<FormatChoice> cube_matrices(const FormatQuery& query) {
  if (!query.is_on_device) return std::nullopt;
  return FormatChoice{Format::FRACTAL_NZ,
                      fmt::format("{}: the cube unit takes FRACTAL_NZ", query.problem.op->name)};
}

std::optional<FormatChoice> cube_images(const FormatQuery& query) {
  if (!query.is_on_device) return std::nullopt;
  return FormatChoice{Format::NC1HWC0,
                      fmt::format("{}: the cube unit takes NC1HWC0", query.problem.op->name)};
}

std::optional<FormatChoice> joined_output(const FormatQuery& query) {
  const TensorDesc& first = query.given[0];
  const std::int64_t channels = first.shape.size() == 4 ? unaligned_channels(query.given) : 0;
  if (channels != 0 && query.rules.concat_output_nchw) {
    return FormatChoice{Format::NCHW,
                        fmt::format("concat: C={} is not a multiple of 16, so the output is NCHW "
                                    "(concat_output_nchw)",
                                    channels)};
  }
  return FormatChoice{first.format,
                      "concat: the output follows the first input (concat_output_nchw is off)"};
}

std::string unaligned_cut(const Problem& problem, std::span<const TensorDesc> parts) {
  const TensorDesc& whole = problem.inputs.front();
  const std::int64_t axis = problem.attrs.integer("axis"), rank = std::ssize(whole.shape);
  if (whole.format != Format::NC1HWC0 || (axis < 0 ? axis + rank : axis) != 1) return {};
  const std::int64_t channels = unaligned_channels(parts);
  if (channels == 0) return {};
  return fmt::format("{}: C={} is not a multiple of 16", problem.op->name, channels);
}

}  // namespace opbench
