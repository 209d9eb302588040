#include "compare/matching.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "judge/stored_values.h"
#include "tensor/error.h"

namespace opbench {
namespace {

using Params = std::map<std::string, std::string, std::less<>>;

const Params* params_of(const NameMap& map, const std::string& op) {
  const auto found = map.params.find(op);
  return found == map.params.end() ? nullptr : &found->second;
}

std::string_view last_component(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? name : name.substr(slash + 1);
}

// `name` with another last component.
std::string renamed(std::string_view name, const std::string& last) {
  return std::string(name.substr(0, name.size() - last_component(name).size())) + last;
}

// Other names of an actual operator's parameter in the expected operator.
std::vector<std::string> other_names(const DumpRecord& actual, const DumpRecord& expected,
                                     const std::string& name, const NameMap& map) {
  std::vector<std::string> names;
  const std::string_view last = last_component(name);
  if (const Params* params = params_of(map, actual.op)) {
    const auto found = params->find(last);
    if (found != params->end()) names.push_back(renamed(name, found->second));
  }
  if (const Params* params = params_of(map, expected.op)) {
    for (const auto& [theirs, mine] : *params) {
      if (mine == last) names.push_back(renamed(name, theirs));
    }
  }
  return names;
}

/// Entries of one side of a record that are not paired yet, by name.
class Open {
 public:
  Open(const DumpRecord* record, Side side) {
    if (record == nullptr) return;
    for (const DumpEntry& entry : record->entries) {
      if (entry.side == side && is_accounted_for(entry)) entries_.push_back(&entry);
    }
    if (entries_.size() <= kSearched) return;
    for (std::size_t i = 0; i < entries_.size(); ++i) index_.emplace(entries_[i]->name, i);
  }

  const std::vector<const DumpEntry*>& entries() const { return entries_; }

  // Removes and returns the entry of that name; null if it is not there any more.
  const DumpEntry* take(std::string_view name) {
    if (!index_.empty()) {
      const auto found = index_.find(name);
      return found == index_.end() ? nullptr : std::exchange(entries_[found->second], nullptr);
    }
    for (const DumpEntry*& entry : entries_) {
      if (entry != nullptr && entry->name == name) return std::exchange(entry, nullptr);
    }
    return nullptr;
  }

 private:
  static constexpr std::size_t kSearched = 8;  ///< fewer are found faster one by one
  std::vector<const DumpEntry*> entries_;
  std::unordered_map<std::string_view, std::size_t> index_;
};

void match_side(const DumpRecord* actual, const DumpRecord* expected, Side side, const NameMap& map,
                std::vector<TensorMatch>& matches) {
  const Open mine(actual, side);
  Open theirs(expected, side);
  const std::size_t first = matches.size();
  // Equal names pair before mapped names, for any order of entries.
  for (const DumpEntry* entry : mine.entries())
    matches.push_back({entry, theirs.take(entry->name)});
  for (std::size_t i = first; i < matches.size(); ++i) {
    if (matches[i].expected != nullptr || expected == nullptr) continue;
    for (const std::string& name : other_names(*actual, *expected, matches[i].actual->name, map)) {
      if ((matches[i].expected = theirs.take(name)) != nullptr) break;
    }
  }
  for (const DumpEntry* entry : theirs.entries()) {
    if (entry != nullptr) matches.push_back({nullptr, entry});
  }
}

constexpr std::int64_t kRuns = 4, kRunLength = 8;

void append(const PairSide& side, ElementRange range, std::vector<double>& values) {
  constexpr std::size_t kLargestElement = 8;
  alignas(kLargestElement) std::byte stored[kRuns * kRunLength * kLargestElement];
  side.read(range, stored);
  const std::size_t first = values.size();
  values.resize(first + static_cast<std::size_t>(range.count));
  values_to_doubles({side.stored, side.dtype}, stored, range.count, values.data() + first);
}

}  // namespace

bool is_accounted_for(const DumpEntry& entry) {
  return entry.kind == EntryKind::tensor || !entry.problem.empty();
}

std::vector<TensorMatch> match_tensors(const DumpRecord* actual, const DumpRecord* expected,
                                       const NameMap& map) {
  std::vector<TensorMatch> matches;
  for (const Side side : {Side::input, Side::output, Side::other}) {
    match_side(actual, expected, side, map, matches);
  }
  return matches;
}

std::vector<double> sample_values(const PairSide& side, std::int64_t count) {
  std::vector<double> values;
  if (side.stored == StoredType::none || count <= 0) return values;
  try {
    if (count <= kRuns * kRunLength) {
      append(side, {0, count}, values);
      return values;
    }
    for (std::int64_t run = 0; run < kRuns; ++run) {
      // Divides first, since the product of large counts could overflow.
      const std::int64_t first = (count - kRunLength) / (kRuns - 1) * run;
      append(side, {first, kRunLength}, values);
    }
  } catch (const Error&) {
    values.clear();
  }
  return values;
}

double sample_distance(const std::vector<double>& a, const std::vector<double>& e) {
  double difference = 0, a_size = 0, e_size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool is_finite = std::isfinite(a[i]) && std::isfinite(e[i]);
    if (!is_finite) {
      const bool agrees = a[i] == e[i] || (std::isnan(a[i]) && std::isnan(e[i]));
      if (!agrees) return 2;
      continue;
    }
    difference += (a[i] - e[i]) * (a[i] - e[i]);
    a_size += a[i] * a[i];
    e_size += e[i] * e[i];
  }
  return difference == 0 ? 0 : std::sqrt(difference / std::max(a_size, e_size));
}

}  // namespace opbench
