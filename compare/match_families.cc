#include "compare/match_families.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <unordered_map>

#include "compare/match_dumps.h"
#include "compare/matching.h"

namespace opbench {
namespace {

using Families = std::vector<CallFamily>;
/// The family of an operator's calls.
using FamilyIndex = std::unordered_map<std::string_view, std::size_t>;

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

bool holds_tensors(const CallFamily& family) {
  return std::any_of(family.calls.begin(), family.calls.end(), [](const DumpRecord* record) {
    return std::any_of(record->entries.begin(), record->entries.end(), is_accounted_for);
  });
}

// Sorted by the operators' names, so pairs do not depend on the files' order. Operators with the
// same name in the other dump are counted separately.
Families families_of(std::span<const DumpRecord> records, std::span<const DumpRecord> others,
                     const NameMap& map, FamilyIndex& index) {
  std::vector<std::string> together = map.counted_together;
  for (const DumpRecord& other : others) std::erase(together, other.op);
  std::map<std::string_view, CallFamily> by_name;
  for (const DumpRecord& record : records) {
    const bool is_joined = std::find(together.begin(), together.end(), record.op) != together.end();
    CallFamily& family = by_name[is_joined ? together.front() : record.op];
    family.calls.push_back(&record);
  }
  Families families;
  for (auto& [name, family] : by_name) {
    const auto before = [](const DumpRecord* a, const DumpRecord* b) {
      return runs_before(*a, *b);
    };
    std::stable_sort(family.calls.begin(), family.calls.end(), before);
    family.op = family.calls.front()->op;
    for (const DumpRecord* call : family.calls) index.emplace(call->op, families.size());
    families.push_back(std::move(family));
  }
  return families;
}

DeviceType first_device(std::span<const DumpRecord> records) {
  for (const DumpRecord& record : records) {
    for (const DumpEntry& entry : record.entries) {
      if (entry.kind == EntryKind::tensor) return entry.device;
    }
  }
  return DeviceType::cuda;
}

void add_mapped(const NameMap& map, std::string_view op, std::vector<std::string>& names) {
  const auto found = map.ops.find(op);
  if (found == map.ops.end()) return;
  names.insert(names.end(), found->second.begin(), found->second.end());
}

// The rule for operators that are not in the map.
void add_prefixed(std::string_view op, DeviceType device, std::vector<std::string>& names) {
  std::array<std::string_view, 2> theirs = {"Cudnn", "Thnn"};
  if (device == DeviceType::cpu) std::swap(theirs[0], theirs[1]);
  constexpr std::string_view kNpu = "Npu";
  if (op.starts_with(kNpu)) {
    for (const std::string_view prefix : theirs) {
      names.push_back(std::string(prefix).append(op.substr(kNpu.size())));
    }
  }
  for (const std::string_view prefix : theirs) {
    if (op.starts_with(prefix)) {
      names.push_back(std::string(kNpu).append(op.substr(prefix.size())));
    }
  }
}

/// Pairs families of both dumps, each once.
class Joiner {
 public:
  Joiner(Families actual, Families expected, const FamilyIndex& index, const NameMap& map,
         DeviceType device)
      : actual_(std::move(actual)),
        expected_(std::move(expected)),
        index_(index),
        map_(map),
        device_(device),
        partner_(actual_.size(), kNone),
        is_taken_(expected_.size(), false) {}

  std::vector<FamilyPair> join() {
    // Equal names on both sides pair first; a map must not separate them.
    for (std::size_t i = 0; i < actual_.size(); ++i) try_names(i, {actual_[i].op});
    for (std::size_t i = 0; i < actual_.size(); ++i) {
      if (partner_[i] == kNone) try_names(i, other_names(actual_[i]));
    }
    std::vector<FamilyPair> pairs;
    for (std::size_t i = 0; i < actual_.size(); ++i) {
      FamilyPair pair{std::move(actual_[i]), {}};
      if (partner_[i] != kNone) pair.expected = std::move(expected_[partner_[i]]);
      pairs.push_back(std::move(pair));
    }
    for (std::size_t i = 0; i < expected_.size(); ++i) {
      if (!is_taken_[i]) pairs.push_back({{}, std::move(expected_[i])});
    }
    return pairs;
  }

 private:
  std::vector<std::string> other_names(const CallFamily& family) const {
    std::vector<std::string> names;
    add_mapped(map_, family.op, names);
    add_prefixed(family.op, device_, names);
    return names;
  }

  void try_names(std::size_t actual, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (partner_[actual] != kNone) return;
      const auto found = index_.find(name);
      if (found == index_.end() || is_taken_[found->second]) continue;
      if (!holds_tensors(expected_[found->second])) continue;
      partner_[actual] = found->second;
      is_taken_[found->second] = true;
    }
  }

  Families actual_, expected_;
  const FamilyIndex& index_;
  const NameMap& map_;
  DeviceType device_;
  std::vector<std::size_t> partner_;  // of each actual family
  std::vector<bool> is_taken_;        // each expected family
};

}  // namespace

std::vector<FamilyPair> pair_families(std::span<const DumpRecord> actual,
                                      std::span<const DumpRecord> expected, const NameMap& map) {
  FamilyIndex actual_index, expected_index;
  Families mine = families_of(actual, expected, map, actual_index);
  Families theirs = families_of(expected, actual, map, expected_index);
  return Joiner(std::move(mine), std::move(theirs), expected_index, map, first_device(expected))
      .join();
}

}  // namespace opbench
