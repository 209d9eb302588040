#include "compare/axis_cuts.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "compare/axis_group.h"

namespace opbench {
namespace {

constexpr std::int64_t kAnyNumber = std::numeric_limits<std::int32_t>::max();

std::int64_t worst_element(const Witness& witness) {
  return std::max<std::int64_t>(witness.finding.worst_element, 0);
}

// Of the worst element, along an axis of the output.
std::int64_t worst_place(const Witness& witness, std::size_t axis) {
  const Dims& shape = witness.recorded().desc.shape;
  std::int64_t inner = 1;
  for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  return worst_element(witness) / inner % shape[axis];
}

// A tensor as one row of elements, of which some stay.
TensorCut row_cut(const Dims& shape, const Places& kept) {
  Dims rest(shape.size(), 1);
  if (!rest.empty()) rest.back() = std::ssize(kept);
  return {{element_count(shape)}, {kept}, rest, 0, std::nullopt};
}

Scheme element_scheme(bool follows_lists) {
  return [follows_lists](const Witness& witness, const Places& kept) {
    Proposal proposal = Proposal::all_of(witness);
    const std::int64_t elements = witness.recorded().desc.elements();
    for (std::size_t i = 0; i < proposal.inputs.size(); ++i) {
      const TensorDesc& desc = witness.problem().inputs[i];
      if (desc.elements() == elements) proposal.inputs[i] = row_cut(desc.shape, kept);
    }
    proposal.output = row_cut(witness.recorded().desc.shape, kept);
    if (follows_lists) follow_lists(witness, proposal.output.shape, proposal.attrs);
    return proposal;
  };
}

// Does every input have the output's number of elements, or one?
bool goes_by_elements(const Witness& witness) {
  const std::int64_t elements = witness.recorded().desc.elements();
  const auto& inputs = witness.problem().inputs;
  return elements > 1 && std::all_of(inputs.begin(), inputs.end(), [&](const TensorDesc& input) {
           return input.elements() == elements || input.elements() == 1;
         });
}

// Where data is moved, the place of the output may come from another one of the input: each is
// tried. Channels that are shuffled in groups are one group then.
void cut_moved_place(Cutting& cutting, std::size_t axis, std::int64_t extent, std::int64_t place) {
  constexpr std::int64_t kMostPlaces = 4096;
  const Witness& witness = cutting.witness();
  if (witness.problem().op->exact_reference == nullptr || extent > kMostPlaces) return;
  for_each_group(witness, axis, extent, [&](const CutAxes& group) {
    const Scheme scheme = group.scheme();
    for (std::int64_t from = 0; from < extent && !cutting.is_stopped(); ++from) {
      Proposal proposal = scheme(witness, {from});
      proposal.output.keep(axis, {place});
      if (cutting.take(proposal)) return true;
      if (!proposal.attrs.values().contains("groups")) continue;
      proposal.attrs.put("groups", std::int64_t{1});
      if (cutting.take(proposal)) return true;
    }
    return cutting.is_stopped();
  });
}

void cut_output_axis(Cutting& cutting, std::size_t axis) {
  const Witness& witness = cutting.witness();
  const std::int64_t extent = witness.recorded().desc.shape[axis];
  if (extent < 2) return;
  const std::int64_t place = worst_place(witness, axis);
  std::optional<CutAxes> found;
  for_each_group(witness, axis, extent, [&](const CutAxes& group) {
    if (cutting.is_stopped()) return true;
    if (!cutting.is_consistent(group.scheme()(witness, {place}))) return false;
    found = group;
    return true;
  });
  if (!found) return cut_moved_place(cutting, axis, extent, place);
  search_places(cutting, extent, place, kAnyNumber, found->scheme());
}

// The places of an axis that an index names, ascending.
Places named_places(const Witness& witness, std::int64_t extent) {
  std::set<std::int64_t> named;
  for (std::size_t i = 0; i < witness.problem().inputs.size(); ++i) {
    if (!is_index(witness, i)) continue;
    const InputReader reader(witness.problem().inputs[i], witness.loaded.inputs[i].data());
    for (const std::int64_t number : reader.read_index()) {
      const std::int64_t place = number < 0 ? number + extent : number;
      if (place >= 0 && place < extent) named.insert(place);
    }
  }
  return {named.begin(), named.end()};
}

// Of one axis of an input, with axes of later inputs. True if anything was taken.
bool cut_hidden_axis(Cutting& cutting, std::size_t input, std::size_t axis) {
  const Witness& witness = cutting.witness();
  const std::int64_t before = witness.elements();
  const std::int64_t extent = witness.problem().inputs[input].shape[axis];
  if (extent < 2) return false;
  for_each_group(witness, std::nullopt, extent, [&](const CutAxes& group) {
    if (cutting.is_stopped()) return true;
    const auto first = std::find_if(group.inputs.begin(), group.inputs.end(),
                                    [](const auto& cut) { return cut.has_value(); });
    const bool is_this = first - group.inputs.begin() == static_cast<std::ptrdiff_t>(input) &&
                         *first == axis && !group.follows_number;
    if (!is_this) return false;
    if (group.renumbers) {
      const Places named = named_places(witness, extent);
      return !named.empty() && cutting.take(group.scheme()(witness, named));
    }
    search_places(cutting, extent, 0, trials_worth(witness), group.scheme());
    return witness.elements() < before;
  });
  return witness.elements() < before;
}

}  // namespace

void cut_elements(Cutting& cutting) {
  const Witness& witness = cutting.witness();
  if (!goes_by_elements(witness)) return;
  const std::int64_t place = worst_element(witness);
  for (const bool follows_lists : {false, true}) {
    const Scheme scheme = element_scheme(follows_lists);
    if (!cutting.is_consistent(scheme(witness, {place}))) continue;
    return search_places(cutting, witness.recorded().desc.elements(), place, kAnyNumber, scheme);
  }
}

void cut_output_axes(Cutting& cutting) {
  const std::size_t rank = cutting.witness().recorded().desc.shape.size();
  for (std::size_t axis = 0; axis < rank; ++axis) cut_output_axis(cutting, axis);
}

void cut_hidden_axes(Cutting& cutting) {
  for (std::size_t input = 0; input < cutting.witness().problem().inputs.size(); ++input) {
    const std::size_t rank = cutting.witness().problem().inputs[input].shape.size();
    for (std::size_t axis = 0; axis < rank; ++axis) cut_hidden_axis(cutting, input, axis);
  }
}

}  // namespace opbench
