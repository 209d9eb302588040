#pragma once

#include "ops/broadcast.h"
#include "ops/elementwise_op.h"

namespace opbench {

/// y = kFormula(x1, ..., xn), all inputs broadcast and promoted; a row of a table as in
/// ops/elementwise_op.h.
template <OpName kName, auto kFormula, int kOperations, std::size_t kInputs = 2>
Op broadcast_op(std::vector<TensorSpec> inputs, const ElementwiseRow& row) {
  return {
      .name = kName.view(),
      .ir_name = row.ir_name.empty() ? kName.view() : row.ir_name,
      .summary = row.summary,
      .source = row.source,
      .known_as = row.known_as,
      .inputs = std::move(inputs),
      .outputs = {{"result"}},
      .attrs = row.attrs,
      .dtypes = kArithmeticDTypes,
      .formats = kElementwiseFormats,
      .infer = [](std::span<const TensorDesc> in,
                  const Attrs&) { return infer_broadcast(kName.view(), in); },
      .reference =
          [](std::span<const InputReader> in, const Attrs& attrs) {
            return broadcast_reference<kInputs>(kName.view(), in, formula_under<kFormula>(attrs));
          },
      .traffic = [](const Problem& problem) { return elementwise_traffic(problem, kOperations); },
      .gradient = row.gradient,
      .corner_points = row.corner_points,
      .promotes = true,
      .context = {.engine_refusal =
                      [](const Problem& problem, const FrameworkRules&) {
                        return broadcast_engine_refusal(problem);
                      }},
  };
}

}  // namespace opbench
