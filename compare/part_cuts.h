#pragma once

#include "compare/place_search.h"

namespace opbench {

/// Of an operator that takes any number of inputs: few of them, and of inputs that lie one after
/// the other in the output, those of its places that stay.
void cut_input_list(Cutting& cutting);

/// Of an operator with groups of channels (attribute `groups`): one group.
void cut_groups(Cutting& cutting);

}  // namespace opbench
