#include "compare/cut_search.h"

#include <algorithm>
#include <utility>

namespace opbench {
namespace {

/// Delta debugging over the remaining places 0 to extent - 1.
class PlaceSearch {
 public:
  PlaceSearch(Cutting& cutting, std::int64_t extent, std::int64_t trials, const Scheme& scheme)
      : cutting_(cutting), extent_(extent), last_(cutting.trials() + trials), scheme_(scheme) {}

  bool keep(const Places& kept) {
    const bool is_worth_it = !kept.empty() && std::ssize(kept) < extent_;
    if (!is_worth_it || !cutting_.take(scheme_(cutting_.witness(), kept))) return false;
    extent_ = std::ssize(kept);
    return true;
  }

  void run() {
    std::int64_t parts = 2;
    while (extent_ >= 2 && !is_over()) {
      parts = std::min(parts, extent_);
      if (keep_a_part(parts)) {
        parts = 2;
      } else if (drop_a_part(parts)) {
        parts = std::max<std::int64_t>(parts - 1, 2);
      } else if (parts == extent_) {
        return;
      } else {
        parts *= 2;
      }
    }
  }

 private:
  bool is_over() const { return cutting_.is_stopped() || cutting_.trials() >= last_; }
  std::int64_t begin_of(std::int64_t part, std::int64_t parts) const {
    return part * extent_ / parts;
  }

  bool keep_a_part(std::int64_t parts) {
    for (std::int64_t part = 0; part < parts && !is_over(); ++part) {
      const std::int64_t begin = begin_of(part, parts);
      if (keep(places_from(begin, begin_of(part + 1, parts) - begin))) return true;
    }
    return false;
  }

  bool drop_a_part(std::int64_t parts) {
    for (std::int64_t part = 0; part < parts && parts > 2 && !is_over(); ++part) {
      const std::int64_t begin = begin_of(part, parts), end = begin_of(part + 1, parts);
      Places kept = places_from(0, begin);
      const Places behind = places_from(end, extent_ - end);
      kept.insert(kept.end(), behind.begin(), behind.end());
      if (keep(kept)) return true;
    }
    return false;
  }

  Cutting& cutting_;
  std::int64_t extent_;
  std::int64_t last_;
  const Scheme& scheme_;
};

// True if the list equals the last extents of the shape. An extent may be open, as -1.
bool is_end_of(const AttrList& list, const Dims& shape) {
  if (list.size() > shape.size() || list.empty()) return false;
  return std::equal(list.rbegin(), list.rend(), shape.rbegin(),
                    [](auto wanted, auto extent) { return wanted == extent || wanted == -1; });
}

bool follow_number(std::int64_t before, std::int64_t after, Attrs& attrs) {
  bool is_any = false;
  const Attrs given = attrs;
  for (const auto& [name, value] : given.values()) {
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number == nullptr || *number != before) continue;
    attrs.put(name, after);
    is_any = true;
  }
  return is_any;
}

void renumber_indices(const Witness& witness, const CutAxes& group, const Places& kept,
                      Proposal& proposal) {
  for (std::size_t i = 0; i < proposal.inputs.size(); ++i) {
    if (is_index(witness, i)) proposal.inputs[i].renumbering = Renumbering{kept, group.extent};
  }
}

// Drops index numbers of removed places, and the rows of other inputs that belong to them along the
// output's cut axis. A row stays if otherwise no row is left.
void drop_others(const Witness& witness, const CutAxes& group, const Places& kept,
                 Proposal& proposal) {
  for (std::size_t i = 0; i < proposal.inputs.size(); ++i) {
    const TensorDesc& desc = witness.problem().inputs[i];
    if (!is_index(witness, i) || desc.shape.size() != 1) continue;
    const auto numbers = InputReader(desc, witness.loaded.inputs[i].data()).read_index();
    Places rows;
    for (std::size_t row = 0; row < numbers.size(); ++row) {
      const std::int64_t place = numbers[row] < 0 ? numbers[row] + group.extent : numbers[row];
      const bool is_kept = std::binary_search(kept.begin(), kept.end(), place);
      if (is_kept) rows.push_back(static_cast<std::int64_t>(row));
    }
    if (rows.empty()) rows.push_back(0);
    for (std::size_t other = 0; other < proposal.inputs.size(); ++other) {
      const Dims& shape = witness.problem().inputs[other].shape;
      const bool is_along = !group.inputs[other] && *group.output < shape.size() &&
                            shape[*group.output] == desc.shape[0];
      if (other != i && is_along) proposal.inputs[other].keep(*group.output, rows);
    }
    proposal.inputs[i].keep(0, rows);
  }
}

// The axes of an input with this extent, the one aligned with `output` first; at last, no axis.
std::vector<std::optional<std::size_t>> choices(const Dims& shape, std::int64_t extent,
                                                std::optional<std::size_t> output) {
  std::vector<std::optional<std::size_t>> axes;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == extent) axes.push_back(axis);
  }
  const auto aligned = std::find(axes.begin(), axes.end(), output);
  if (output && aligned != axes.end()) std::rotate(axes.begin(), aligned, aligned + 1);
  axes.push_back(std::nullopt);
  return axes;
}

// Visits all ways in which indices and attributes can follow a choice of axes. Returns true if a
// visit did.
bool visit_all(const Witness& witness, CutAxes group,
               const std::function<bool(const CutAxes&)>& visit) {
  bool is_any_cut = false, is_any_index = false;
  for (std::size_t i = 0; i < group.inputs.size(); ++i) {
    is_any_cut |= group.inputs[i].has_value();
    is_any_index |= is_index(witness, i);
  }
  if (!is_any_cut) return false;
  Attrs unused = witness.problem().attrs;
  const bool has_lists =
      group.output && follow_lists(witness, witness.recorded().desc.shape, unused);
  const bool has_number = follow_number(group.extent, group.extent, unused);
  for (const auto& [renumbers, drops] : {std::pair(false, false), {true, false}, {true, true}}) {
    for (const bool lists : {false, true}) {
      for (const bool number : {false, true}) {
        if ((renumbers && !is_any_index) || (drops && !group.output) || (lists && !has_lists) ||
            (number && !has_number)) {
          continue;
        }
        group.renumbers = renumbers;
        group.drops = drops;
        group.follows_lists = lists;
        group.follows_number = number;
        if (visit(group)) return true;
      }
    }
  }
  return false;
}

}  // namespace

void search_places(Cutting& cutting, std::int64_t extent, std::int64_t place, std::int64_t trials,
                   const Scheme& scheme) {
  PlaceSearch search(cutting, extent, trials, scheme);
  if (!search.keep({place})) search.run();
}

std::int64_t trials_worth(const Witness& witness) {
  constexpr std::int64_t kElements = std::int64_t{1} << 23, kFewest = 8, kMost = 256;
  return std::clamp(kElements / std::max<std::int64_t>(witness.elements(), 1), kFewest, kMost);
}

// Quantised factors are numbers, and so is what may also be floating.
bool is_index(const Witness& witness, std::size_t input) {
  const Problem& problem = witness.problem();
  const DType dtype = problem.inputs[input].dtype;
  const std::vector<DType>& dtypes = problem.op->input(input).dtypes;
  return !is_floating(dtype) && dtype != DType::int8 && dtype != DType::int4 &&
         problem.op->input(input).has_own_dtype() &&
         std::none_of(dtypes.begin(), dtypes.end(), is_floating);
}

bool follow_lists(const Witness& witness, const Dims& shape, Attrs& attrs) {
  const Dims& before = witness.recorded().desc.shape;
  bool is_any = false;
  for (const auto& [name, value] : witness.problem().attrs.values()) {
    const auto* list = std::get_if<AttrList>(&value);
    const bool is_extents = list != nullptr && (list->size() == before.size() || list->size() == 2);
    if (!is_extents || !is_end_of(*list, before)) continue;
    attrs.put(name, AttrList(shape.end() - std::ssize(*list), shape.end()));
    is_any = true;
  }
  return is_any;
}

Scheme CutAxes::scheme() const {
  return [group = *this](const Witness& witness, const Places& kept) {
    CutAxes now = group;
    Proposal proposal = Proposal::all_of(witness);
    for (std::size_t i = 0; i < now.inputs.size(); ++i) {
      if (!now.inputs[i]) continue;
      now.extent = witness.problem().inputs[i].shape[*now.inputs[i]];
      proposal.inputs[i].keep(*now.inputs[i], kept);
    }
    if (now.output) proposal.output.keep(*now.output, kept);
    if (now.drops) drop_others(witness, now, kept, proposal);
    if (now.renumbers) renumber_indices(witness, now, kept, proposal);
    if (now.follows_lists) follow_lists(witness, proposal.output.shape, proposal.attrs);
    if (now.follows_number) follow_number(now.extent, std::ssize(kept), proposal.attrs);
    return proposal;
  };
}

void for_each_group(const Witness& witness, std::optional<std::size_t> output, std::int64_t extent,
                    const std::function<bool(const CutAxes&)>& visit) {
  constexpr int kMostGroups = 512;
  const Problem& problem = witness.problem();
  std::vector<std::vector<std::optional<std::size_t>>> all;
  for (const TensorDesc& input : problem.inputs) {
    all.push_back(choices(input.shape, extent, output));
  }
  CutAxes group{{}, output, extent};
  std::vector<std::size_t> chosen(all.size(), 0);
  for (int tries = 0; tries < kMostGroups; ++tries) {
    group.inputs.clear();
    for (std::size_t i = 0; i < all.size(); ++i) group.inputs.push_back(all[i][chosen[i]]);
    if (visit_all(witness, group, visit)) return;
    // Moves to the next choice: that of the last input changes fastest.
    std::size_t i = all.size();
    while (i > 0 && ++chosen[i - 1] == all[i - 1].size()) chosen[--i] = 0;
    if (i == 0) return;
  }
}

}  // namespace opbench
