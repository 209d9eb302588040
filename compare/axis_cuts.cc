#include "compare/axis_cuts.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <string>

#include "compare/cut_search.h"

namespace opbench {
namespace {

constexpr std::int64_t kAnyNumber = std::numeric_limits<std::int32_t>::max();

std::int64_t worst_element(const Witness& witness) {
  return std::max<std::int64_t>(witness.finding.worst_element, 0);
}

// The place of the worst element along an axis of the output.
std::int64_t worst_place(const Witness& witness, std::size_t axis) {
  const Dims& shape = witness.recorded().desc.shape;
  std::int64_t inner = 1;
  for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  return worst_element(witness) / inner % shape[axis];
}

// Keeps some elements of a tensor, as one row.
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

// True if each input has one element, or as many elements as the output.
bool goes_by_elements(const Witness& witness) {
  const std::int64_t elements = witness.recorded().desc.elements();
  const auto& inputs = witness.problem().inputs;
  return elements > 1 && std::all_of(inputs.begin(), inputs.end(), [&](const TensorDesc& input) {
           return input.elements() == elements || input.elements() == 1;
         });
}

// Tries each place of the input for a place of the output, as operators that move data need it.
// Channels that are shuffled in groups become one group.
void cut_moved_place(Cutting& cutting, std::size_t axis, std::int64_t extent, std::int64_t place) {
  constexpr std::int64_t kMostPlaces = 4096;
  const Witness& witness = cutting.witness();
  if (witness.problem().op->reference != nullptr || extent > kMostPlaces) return;
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

// The places of an axis that an index contains, ascending.
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

// Cuts one axis of an input, with axes of later inputs. Returns true if the witness is smaller.
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

// Height and width of a list; a single number is both.
std::optional<AttrList> pair_of(const Attrs& attrs, const std::string& name) {
  const auto found = attrs.values().find(name);
  if (found == attrs.values().end()) return std::nullopt;
  const auto* list = std::get_if<AttrList>(&found->second);
  if (list == nullptr || list->empty() || list->size() > 2) return std::nullopt;
  return AttrList{list->front(), list->back()};
}

/// Windows along one axis of the plane.
class WindowAxis {
 public:
  /// `axis`: 0 is the height, 1 the width.
  WindowAxis(const Witness& witness, std::size_t axis) : witness_(witness), axis_(axis) {
    const Attrs& attrs = witness.problem().attrs;
    const auto kernel = pair_of(attrs, "kernel_size"), padding = pair_of(attrs, "padding");
    const bool has_stride = attrs.values().contains("stride");
    const Dims& shape = witness.recorded().desc.shape;
    if (!padding || !has_stride || shape.size() < 3 || input_shape().size() != shape.size()) return;
    has_kernel_attr_ = kernel.has_value();
    if (kernel) {
      kernel_ = (*kernel)[axis];
    } else if (has_weight()) {
      kernel_ = weight_shape()[plane_axis(weight_shape())];
    }
    padding_ = (*padding)[axis];
    stride_ = pair_of(attrs, "stride").value_or(AttrList{kernel_, kernel_})[axis];
    dilation_ = pair_of(attrs, "dilation").value_or(AttrList{1, 1})[axis];
  }

  bool is_there() const { return kernel_ > 0; }
  std::int64_t windows() const { return output_shape()[plane_axis(output_shape())]; }
  std::int64_t worst() const {
    std::int64_t inner = 1;
    if (axis_ == 0) inner = output_shape().back();
    return std::max<std::int64_t>(witness_.finding.worst_element, 0) / inner % windows();
  }

  // Keeps only the window at `place`. `clipped`: the part of the window outside of the plane is cut
  // off; otherwise it is 0.
  Proposal one(std::int64_t place, bool clipped) const {
    Places taps, rows;
    for (std::int64_t tap = 0; tap < kernel_; ++tap) {
      const std::int64_t row = place * stride_ - padding_ + tap * dilation_;
      const bool is_inside = row >= 0 && row < input_shape()[plane_axis(input_shape())];
      if (clipped && !is_inside) continue;
      taps.push_back(tap);
      rows.push_back(is_inside ? row : kFilled);
    }
    Proposal proposal = cropped(place, 1, std::move(rows));
    if (!has_kernel_attr_) {
      proposal.inputs[1].keep(plane_axis(weight_shape()), taps);
    } else {
      put("kernel_size", std::ssize(taps), proposal.attrs);
    }
    put("stride", 1, proposal.attrs);
    put("dilation", 1, proposal.attrs);
    return proposal;
  }

  // Keeps windows from `first` on. Elements outside of the plane are 0.
  Proposal some(std::int64_t first, std::int64_t count) const {
    const std::int64_t begin = first * stride_ - padding_;
    const std::int64_t rows = (count - 1) * stride_ + (kernel_ - 1) * dilation_ + 1;
    Places kept = places_from(begin, rows);
    for (std::int64_t& row : kept) {
      if (row < 0 || row >= input_shape()[plane_axis(input_shape())]) row = kFilled;
    }
    return cropped(first, count, std::move(kept));
  }

 private:
  const Dims& input_shape() const { return witness_.problem().inputs[0].shape; }
  const Dims& output_shape() const { return witness_.recorded().desc.shape; }
  bool has_weight() const {
    return witness_.problem().inputs.size() > 1 && weight_shape().size() == input_shape().size();
  }
  const Dims& weight_shape() const { return witness_.problem().inputs[1].shape; }
  std::size_t plane_axis(const Dims& shape) const { return shape.size() - 2 + axis_; }

  Proposal cropped(std::int64_t first, std::int64_t count, Places rows) const {
    Proposal proposal = Proposal::all_of(witness_);
    proposal.inputs[0].keep(plane_axis(input_shape()), std::move(rows));
    proposal.output.keep(plane_axis(output_shape()), places_from(first, count));
    put("padding", 0, proposal.attrs);
    return proposal;
  }

  // Sets the number of this axis in a list attribute, if the operator has it.
  void put(const std::string& name, std::int64_t value, Attrs& attrs) const {
    if (!attrs.values().contains(name)) return;
    AttrList list = pair_of(attrs, name).value_or(AttrList{stride_, stride_});
    list[axis_] = value;
    attrs.put(name, list);
  }

  const Witness& witness_;
  std::size_t axis_;
  std::int64_t kernel_ = 0, stride_ = 1, padding_ = 0, dilation_ = 1;
  bool has_kernel_attr_ = false;
};

// Writes out a default stride, which equals the kernel size, before the kernel changes.
Proposal with_stride_said(const Witness& witness, Proposal proposal) {
  const auto& values = witness.problem().attrs.values();
  const auto stride = values.find("stride"), kernel = values.find("kernel_size");
  if (stride == values.end() || kernel == values.end()) return proposal;
  const auto* list = std::get_if<AttrList>(&stride->second);
  const auto* now = std::get_if<AttrList>(&proposal.attrs.values().at("stride"));
  if (list != nullptr && list->empty() && now->empty())
    proposal.attrs.put("stride", kernel->second);
  return proposal;
}

void cut_window_axis(Cutting& cutting, std::size_t axis) {
  const Witness& witness = cutting.witness();
  if (!WindowAxis(witness, axis).is_there()) return;
  for (const bool clipped : {true, false}) {
    const WindowAxis windows(witness, axis);
    if (cutting.take(windows.one(windows.worst(), clipped))) return;
  }
  // Drops windows at the end, then at the beginning, in ever smaller parts.
  for (std::int64_t part = WindowAxis(witness, axis).windows() / 2; part > 0; part /= 2) {
    for (bool is_taken = true; is_taken && !cutting.is_stopped();) {
      const WindowAxis now(witness, axis);
      const std::int64_t rest = now.windows() - part;
      is_taken = rest > 0 && (cutting.take(with_stride_said(witness, now.some(0, rest))) ||
                              cutting.take(with_stride_said(witness, now.some(part, rest))));
    }
  }
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

void cut_windows(Cutting& cutting) {
  for (const std::size_t axis : {0U, 1U}) cut_window_axis(cutting, axis);
}

}  // namespace opbench
