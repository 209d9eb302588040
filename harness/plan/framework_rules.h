#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "harness/plan/graph.h"
#include "harness/spec/context.h"

namespace opbench {

/// What the framework and the engine below it do with formats, beside what kernels take.
/// Source: Ascend's PyTorch 1.5 adapters (ConcatD, ReluGrad, Axpy, Conv2D) and format selection.

/// Empty if the engine computes `problem` in its formats, else why not: Axpy in private formats
/// needs channels in whole blocks, or equal shapes and `axpy_equal_shapes`.
std::string engine_refusal(const Problem& problem, const FrameworkRules& rules);

/// The format that the framework gives output `output` of a node, and why.
struct OutputRule {
  Format format;
  std::string why;  ///< "concat output follows its first input (concat_output_nchw is off)"
};

/// None: as the kernel writes it. `given` are the inputs as they arrive, before conversions.
std::optional<OutputRule> output_rule(const Problem& problem, std::span<const TensorDesc> given,
                                      std::size_t output, const FrameworkRules& rules,
                                      bool is_on_device);

/// The format in which the node's inputs are wanted first, and why where it is not that of the
/// first input.
OutputRule wanted_format(const Problem& logical, std::span<const TensorDesc> given,
                         const FrameworkRules& rules, bool is_on_device);

/// True for a convolution whose groups are its channels.
bool is_depthwise(const Problem& problem);

}  // namespace opbench
