#pragma once

#include <iosfwd>
#include <span>
#include <string>

#include "harness/plan/remedy.h"
#include "text/fitted.h"

namespace opbench {

/// "weight_format_init: true", "cat_shuffle_split: half, concat_output_nchw: true".
std::string changes_text(const RemedyStep& step);

/// "262 TransData, 7.1 MiB": savings of `after` against `before`, and its additional costs.
std::string savings_text(const PlanCost& before, const PlanCost& after);

/// Prints a text report: the cost after each step with its savings, the sum, and the distance to
/// the lower bound.
void print_remedy(std::ostream& out, const Remedy& remedy, const ConsoleStyle& style);

/// {"schema", "schema_version", "command", "remedies": [{"context", "step", "before": COST,
/// "after": COST, "ladder": [{"changes": [{"rule" or "variant_of", "to"}], "cost": COST}],
/// "proved", "lower_bound": {"trans_data", "casts"} or null, "gap": the same, "settings", "graphs",
/// "plans", "tasks", "seconds"}]} with COST = {"trans_data", "casts", "copies", "bytes",
/// "trans_data_bytes"}.
void write_remedies_json(std::ostream& out, std::span<const Remedy> remedies,
                         const std::string& command_line);

}  // namespace opbench
