#pragma once

#include "harness/check/compared_case.h"
#include "harness/check/peer.h"

namespace opbench::check {

/// True if both programs would do the same: files of the same bytes, which find the same libraries
/// and read the same case files.
bool is_same_program(const PeerProgram& base, const PeerProgram& current);

/// Settles the open variants of a case that is open in both builds as SAME where both run the same
/// machine code and left the same bits: whatever times would differ by is not of the sources, but
/// of where code and data lie, or noise. Where that is not known, `code_unknown` of a variant says
/// why.
void settle_same_code(ComparedCase& compared, Peer& base, Peer& current);

/// Notes of what is slower, or looks so, why it is not known whether its machine code changed.
void note_unknown_code(const ComparedVariant& variant, CheckedItem& item);

/// Adds a notice with the number of variants of the same machine code, unless there are none.
void note_same_code(const std::vector<CheckedItem>& items, std::vector<std::string>& notices);

}  // namespace opbench::check
