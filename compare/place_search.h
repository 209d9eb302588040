#pragma once

#include <cstdint>
#include <functional>

#include "compare/witness.h"

namespace opbench {

/// The part of a witness that keeps only some places, ascending, of what a search goes over.
using Scheme = std::function<Proposal(const Witness& witness, const Places& kept)>;

/// Leaves only `place` of `extent` places, or, if that is right or right again, as few places as
/// delta debugging finds: parts first, then what is left without a part, ever smaller ones (Zeller
/// and Hildebrandt 2002). At most about `trials` of them.
void search_places(Cutting& cutting, std::int64_t extent, std::int64_t place, std::int64_t trials,
                   const Scheme& scheme);

/// How many trials a search for what may not be there is worth: the larger the witness, the fewer.
std::int64_t trials_worth(const Witness& witness);

}  // namespace opbench
