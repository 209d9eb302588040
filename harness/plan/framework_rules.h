#pragma once

#include <optional>
#include <string>

#include "ops/op.h"

namespace opbench {

// What the framework and the engine below it do with formats, beside what kernels take: the rule
// of the operator (ContextTraits) where it has one, else that of most operators.

/// Empty if the engine computes `problem` in its formats, else why not: Axpy in private formats
/// needs channels in whole blocks, or equal shapes and `axpy_equal_shapes`.
std::string engine_refusal(const Problem& problem, const FrameworkRules& rules);

/// The format that the framework gives output `output` of a node that is planned. None: as the
/// kernel writes it.
std::optional<FormatChoice> output_format(const FormatQuery& query, std::size_t output);

/// The format in which the inputs of a node are wanted first.
FormatChoice input_format(const FormatQuery& query);

}  // namespace opbench
