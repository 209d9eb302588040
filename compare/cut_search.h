#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "compare/witness.h"

namespace opbench {

/// An attribute that is a list of integers.
using AttrList = std::vector<std::int64_t>;

/// The part of a witness that keeps only some places, ascending, of what a search goes over.
using Scheme = std::function<Proposal(const Witness& witness, const Places& kept)>;

/// Leaves only `place` of `extent` places, or, if that is right or right again, as few places as
/// delta debugging finds: parts first, then what is left without a part, ever smaller ones (Zeller
/// and Hildebrandt 2002). At most about `trials` of them.
void search_places(Cutting& cutting, std::int64_t extent, std::int64_t place, std::int64_t trials,
                   const Scheme& scheme);

/// How many trials a search for what may not be there is worth: the larger the witness, the fewer.
std::int64_t trials_worth(const Witness& witness);

/// Axes of one extent that may be cut together.
struct CutAxes {
  std::vector<std::optional<std::size_t>> inputs;  ///< of each input, if any
  std::optional<std::size_t> output;
  std::int64_t extent = 0;
  bool renumbers = false;       ///< what indices count along the axis
  bool drops = false;           ///< numbers of an index that count to what is gone, and their rows
  bool follows_lists = false;   ///< attributes that are the output's extents, or its plane's
  bool follows_number = false;  ///< attributes that are the axis' extent, such as groups

  Scheme scheme() const;
};

/// Calls `visit` with every way in which axes of inputs may go with axis `output` of the output, or
/// with each other alone: the likely ones first, at most some hundreds, until it returns true.
void for_each_group(const Witness& witness, std::optional<std::size_t> output, std::int64_t extent,
                    const std::function<bool(const CutAxes&)>& visit);

/// Attributes of `witness` for an output of the extents `shape`. False if none is the output's
/// extents.
bool follow_lists(const Witness& witness, const Dims& shape, Attrs& attrs);

/// An input of whole numbers that count places.
bool is_index(const Witness& witness, std::size_t input);

}  // namespace opbench
