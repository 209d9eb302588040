#pragma once

#include <string>
#include <vector>

#include "harness/check/compared_case.h"

namespace opbench::check {

/// Whether both builds run the same machine code is the difference between a change and the place
/// that the linker gave it: a SLOWER with the same code and results becomes LAYOUT and is no
/// regression, and so does what looks slower and was not decided. Where that is not known, a notice
/// says why, and the verdict stays.
void judge_code(Item& item, const CodeReply& base, const CodeReply& current);

/// Opens the case of such an item again in both builds and judges its code. A build that fails at
/// it does not know.
void compare_code(const ComparedCase& compared, Item& item, Peer& base, Peer& current,
                  const OpenRequest& how);

/// Adds a notice with the number of LAYOUT, unless there are none.
void note_layout(const std::vector<Item>& items, std::vector<std::string>& notices);

}  // namespace opbench::check
