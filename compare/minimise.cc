#include "compare/minimise.h"

#include <algorithm>
#include <optional>

#include "compare/axis_cuts.h"
#include "compare/cut_search.h"

namespace opbench {
namespace {

// Keeps only the inputs `kept`; the output stays.
Proposal fewer_inputs(const Witness& witness, const Places& kept) {
  const Proposal all = Proposal::all_of(witness);
  Proposal proposal = all;
  proposal.sources.clear();
  proposal.inputs.clear();
  for (const std::int64_t i : kept) {
    proposal.sources.push_back(static_cast<std::size_t>(i));
    proposal.inputs.push_back(all.inputs[static_cast<std::size_t>(i)]);
  }
  return proposal;
}

// Keeps only input `input`, which is in the output from place `from` of the axis on.
Proposal one_input(const Witness& witness, std::size_t input, std::size_t axis, std::int64_t from) {
  Proposal proposal = fewer_inputs(witness, {static_cast<std::int64_t>(input)});
  const Dims& shape = witness.problem().inputs[input].shape;
  proposal.output.keep(axis, places_from(from, shape[axis]));
  return proposal;
}

// True if the inputs follow one another along the axis.
bool are_joined(const Witness& witness, std::size_t axis) {
  const Dims& shape = witness.recorded().desc.shape;
  std::int64_t sum = 0;
  for (const TensorDesc& input : witness.problem().inputs) {
    if (input.shape.size() != shape.size()) return false;
    sum += input.shape[axis];
  }
  return sum == shape[axis];
}

void keep_one_joined(Cutting& cutting) {
  const Witness& witness = cutting.witness();
  for (std::size_t axis = 0; axis < witness.recorded().desc.shape.size(); ++axis) {
    if (!are_joined(witness, axis)) continue;
    std::int64_t from = 0;
    for (std::size_t i = 0; i < witness.problem().inputs.size(); ++i) {
      const std::int64_t extent = witness.problem().inputs[i].shape[axis];
      if (extent > 0 && cutting.take(one_input(witness, i, axis, from))) return;
      from += extent;
    }
  }
}

std::int64_t groups_of(const Attrs& attrs) {
  const auto found = attrs.values().find("groups");
  if (found == attrs.values().end()) return 1;
  const auto* number = std::get_if<std::int64_t>(&found->second);
  return number == nullptr ? 1 : *number;
}

/// The axes of channels in groups: of the output, of the first input, and of all others.
struct GroupedAxes {
  std::size_t output, first, others;
};

void keep_block(TensorCut& cut, std::size_t axis, std::int64_t group, std::int64_t groups) {
  const std::int64_t extent = cut.view[axis] / groups;
  cut.keep(axis, places_from(group * extent, extent));
}

// Empty if channels do not form groups on these axes.
std::optional<Proposal> one_group(const Witness& witness, const GroupedAxes& axes,
                                  std::int64_t group, std::int64_t groups) {
  const auto is_grouped = [&](const Dims& shape, std::size_t axis) {
    return axis < shape.size() && shape[axis] % groups == 0;
  };
  Proposal proposal = Proposal::all_of(witness);
  if (!is_grouped(proposal.output.view, axes.output)) return std::nullopt;
  keep_block(proposal.output, axes.output, group, groups);
  for (std::size_t i = 0; i < proposal.inputs.size(); ++i) {
    const std::size_t axis = i == 0 ? axes.first : axes.others;
    if (!is_grouped(proposal.inputs[i].view, axis)) return std::nullopt;
    keep_block(proposal.inputs[i], axis, group, groups);
  }
  proposal.attrs.put("groups", std::int64_t{1});
  return proposal;
}

// Reduces the inputs of an operator that takes any number of them. If the inputs follow one another
// in the output, the output keeps the places of the remaining input.
void cut_input_list(Cutting& cutting) {
  const Witness& witness = cutting.witness();
  const std::int64_t inputs = std::ssize(witness.problem().inputs);
  if (!witness.problem().op->variadic || inputs < 2) return;
  keep_one_joined(cutting);
  if (std::ssize(witness.problem().inputs) < inputs) return;
  search_places(cutting, inputs, 0, trials_worth(witness), fewer_inputs);
}

// Keeps one group of an operator with groups of channels (attribute `groups`).
void cut_groups(Cutting& cutting) {
  const Witness& witness = cutting.witness();
  const std::int64_t groups = groups_of(witness.problem().attrs);
  // Channels are on axis 1 of activations and on axis 0 of weights and of a weight's gradient.
  for (const GroupedAxes& axes : {GroupedAxes{1, 1, 0}, GroupedAxes{0, 1, 1}}) {
    for (std::int64_t group = 0; group < groups && groups > 1; ++group) {
      const std::optional<Proposal> proposal = one_group(witness, axes, group, groups);
      if (!proposal || cutting.is_stopped()) break;
      if (cutting.take(*proposal)) return;
    }
  }
}

}  // namespace

std::int64_t minimise(Witness& witness, const JudgeRules& rules,
                      const std::function<bool()>& stop) {
  Cutting cutting(witness, rules, stop);
  cutting.make_plain();
  std::int64_t before = 0;
  do {
    before = witness.elements();
    cut_elements(cutting);
    cut_input_list(cutting);
    cut_groups(cutting);
    cut_output_axes(cutting);
    cut_windows(cutting);
    cut_hidden_axes(cutting);
  } while (witness.elements() < before && !stop());
  return cutting.trials();
}

}  // namespace opbench
