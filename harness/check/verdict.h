#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/check/check.h"
#include "harness/check/paired_times.h"
#include "harness/check/peer.h"

namespace opbench::check {

/// A build does not have the variant, or does not take the case with it; null: it does not have it.
bool is_absent(const OpenedVariant* variant);

/// What both builds made of one variant; null: the build does not have it. Every measure of error
/// may grow by half and one unit: ULP, one epsilon of the results' dtype. Other bits are an error
/// of an operator that has one right result, and of every one if `is_strict`; else a notice.
/// Returns false if the item is settled and has no times to compare. Sets notices as well.
bool judge_accuracy(CheckedItem& item, const OpenedVariant* base, const OpenedVariant* current,
                    bool is_strict = false);

/// What a step of a context converts and copies in both builds, exactly: more of anything is a
/// regression, whatever the times say. Returns false if the item is settled. Less is a notice.
bool judge_conversions(CheckedItem& item, const OpenedVariant& base, const OpenedVariant& current);

/// The command to run next, quoted for a shell: `base` is the other build's program, with the
/// directory in which it reads its case files, `how` further flags. Empty where there is nothing to
/// do.
std::string next_command(const CheckedItem& item, const PeerProgram& base,
                         const std::vector<std::string>& how);

}  // namespace opbench::check
