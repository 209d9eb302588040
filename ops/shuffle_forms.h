#pragma once

#include <string_view>
#include <vector>

#include "ops/op.h"

namespace opbench {

// How the framework writes the joining, shuffling and cutting of channels (cat_shuffle and its
// relatives) before that is one operator:
//
//   forward   native: concat, channel_shuffle, and a copy of each half
//             full: concat, index_select, and a copy of each half
//             half: concat, and an index_select for each half
//   backward  native: concat, channel_shuffle back, a copy of each half
//             index_add: concat, index_add to zeros, a copy of each half
//             full, half: concat, and an index_select for each half
//
// without the copies where there is one output, and without concat where there is one input.

std::vector<ComposedCall> compose_shuffle(const Problem& problem, std::string_view form);
std::vector<ComposedCall> compose_shuffle_grad(const Problem& problem, std::string_view form);

}  // namespace opbench
