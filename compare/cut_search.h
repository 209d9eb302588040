#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "compare/witness.h"

namespace opbench {

/// An attribute that is a list of integers.
using AttrList = std::vector<std::int64_t>;

/// Makes a proposal that keeps only some places, in ascending order.
using Scheme = std::function<Proposal(const Witness& witness, const Places& kept)>;

/// Keeps only `place` of `extent` places. If the rest is not wrong any more, keeps as few places as
/// delta debugging finds. It tries parts first, then the rest without a part, with ever smaller
/// parts (Zeller and Hildebrandt 2002). Makes about `trials` attempts at most.
void search_places(Cutting& cutting, std::int64_t extent, std::int64_t place, std::int64_t trials,
                   const Scheme& scheme);

/// The number of trials for a search that may find nothing: the larger the witness, the fewer.
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

/// Calls `visit` with every combination of axes of inputs, either with axis `output` of the output
/// or without an axis of the output. Likely combinations come first, at most some hundreds. Ends
/// when `visit` returns true.
void for_each_group(const Witness& witness, std::optional<std::size_t> output, std::int64_t extent,
                    const std::function<bool(const CutAxes&)>& visit);

/// Adapts attributes of `witness` to an output of the extents `shape`. Returns false if no
/// attribute is the output's extents.
bool follow_lists(const Witness& witness, const Dims& shape, Attrs& attrs);

/// True for an input of whole numbers that are places of an axis.
bool is_index(const Witness& witness, std::size_t input);

}  // namespace opbench
