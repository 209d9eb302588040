#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "compare/place_search.h"

namespace opbench {

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
