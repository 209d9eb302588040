#include "profiles/format_change.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiles/logical_shapes.h"

namespace opbench {
namespace {

// Two blocked storages of one plane: their channels may be the same in number.
bool may_hold_the_same(const ProfiledTensor& a, const ProfiledTensor& b) {
  const bool are_blocks = a.format == Format::NC1HWC0 && b.format == Format::NC1HWC0 &&
                          a.storage.size() == 5 && b.storage.size() == 5;
  if (!are_blocks) return a.format == b.format && a.storage == b.storage;
  const auto least = [](const Dims& s) { return (s[1] - 1) * s[4] + 1; };
  const auto most = [](const Dims& s) { return s[1] * s[4]; };
  const Dims& s = a.storage;
  const Dims& t = b.storage;
  return s[0] == t[0] && s[2] == t[2] && s[3] == t[3] && least(s) <= most(t) && least(t) <= most(s);
}

bool is_same(const ProfiledTensor& a, const ProfiledTensor& b) {
  if (a.is_absent || b.is_absent) return a.is_absent == b.is_absent;
  if (!a.problem.empty() || !b.problem.empty()) {
    return a.problem == b.problem && a.storage == b.storage;
  }
  if (a.dtype != b.dtype) return false;
  if (a.logical && b.logical) return a.logical == b.logical;
  if (a.logical) return is_stored_as(*a.logical, b);
  if (b.logical) return is_stored_as(*b.logical, a);
  return may_hold_the_same(a, b);
}

bool are_same(const std::vector<ProfiledTensor>& a, const std::vector<ProfiledTensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), is_same);
}

}  // namespace

StoredOperator::StoredOperator(const HotOperator& one)
    : kind_(fmt::format("{}\x1f{}\x1f{}", one.type.empty() ? one.name : one.type, one.input_dtypes,
                        one.output_dtypes)) {
  if (!one.has_tensors) return;
  inputs_ = tensors_of(one.input_shapes, one.input_dtypes, one.input_formats);
  outputs_ = tensors_of(one.output_shapes, one.output_dtypes, one.output_formats);
}

bool StoredOperator::is_same_as(const StoredOperator& other) const {
  const bool has_tensors = !inputs_.empty() || !outputs_.empty();
  return has_tensors && kind_ == other.kind_ && are_same(inputs_, other.inputs_) &&
         are_same(outputs_, other.outputs_);
}

std::string StoredOperator::changed_to(const StoredOperator& other) const {
  std::vector<std::string> all, places;
  const auto add = [&](const char* side, const auto& before, const auto& after) {
    for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
      if (before[i].format == after[i].format) continue;
      all.push_back(fmt::format("{} -> {}", name(before[i].format), name(after[i].format)));
      places.push_back(fmt::format("{} {}", side, i));
    }
  };
  add("input", inputs_, other.inputs_);
  add("output", outputs_, other.outputs_);
  if (all.empty()) return {};
  if (std::all_of(all.begin(), all.end(), [&](const auto& one) { return one == all[0]; })) {
    return all[0];
  }
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", places[i], all[i]);
  }
  return text;
}

}  // namespace opbench
