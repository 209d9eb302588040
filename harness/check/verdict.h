#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/check/check.h"
#include "harness/check/paired_times.h"
#include "harness/check/worker_client.h"

namespace opbench::check {

/// True if a build does not have the variant, or if the variant does not take the case. Null: the
/// build does not have it.
bool is_absent(const OpenedVariant* variant);

/// Compares the accuracy of one variant in both builds; null: the build does not have it. Every
/// measure of error may grow by half plus one unit: 1 ULP, or one epsilon of the results' dtype.
/// Different bits are an error if the operator's result is defined bit for bit, or if `is_strict`;
/// else a notice. Sets notices as well. Returns false if the item is settled and has no times to
/// compare.
bool judge_accuracy(CheckedItem& item, const OpenedVariant* base, const OpenedVariant* current,
                    bool is_strict = false);

/// Compares the conversions and copies of a context's step in both builds exactly. Any increase is
/// a regression, independent of the times. A decrease is a notice. Returns false if the item is
/// settled.
bool judge_conversions(CheckedItem& item, const OpenedVariant& base, const OpenedVariant& current);

/// The command to run next, quoted for a shell; empty if no action is needed. `base` is the
/// baseline's program, with the directory of its case files. `how` are further flags.
std::string next_command(const CheckedItem& item, const WorkerProgram& base,
                         const std::vector<std::string>& how);

}  // namespace opbench::check
