#include "compare/number_shift.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "compare/match_families.h"
#include "compare/matching.h"

namespace opbench {
namespace {

using Calls = std::map<std::int64_t, const DumpRecord*>;  // by their numbers

/// A call of the actual dump, and the calls of its operator in the expected dump.
struct NumberedCall {
  std::int64_t number;
  const DumpRecord* call;
  const Calls* theirs;
};

// Excludes distant numbers, which come from files: differences must not overflow.
bool is_usable(const DumpRecord& call) {
  return call.seq && *call.seq >= 0 && *call.seq <= (std::int64_t{1} << 62);
}

const DumpEntry* largest_output(const DumpRecord& call) {
  const DumpEntry* largest = nullptr;
  for (const DumpEntry& entry : call.entries) {
    if (entry.kind != EntryKind::tensor || entry.side != Side::output || !entry.problem.empty()) {
      continue;
    }
    const bool is_larger = largest == nullptr || entry.desc.elements() > largest->desc.elements();
    if (is_larger) largest = &entry;
  }
  return largest;
}

bool is_constant(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [&](double value) {
    return !(value < values.front() || value > values.front());
  });
}

// At most `most` of the numbers from `first` up to `end`, spread evenly.
void add_spread(std::size_t first, std::size_t end, std::size_t most,
                std::vector<std::size_t>& places) {
  const std::size_t step = std::max<std::size_t>(1, (end - first + most - 1) / most);
  for (std::size_t i = first; i < end; i += step) places.push_back(i);
}

class ShiftSearch {
 public:
  ShiftSearch(std::span<const DumpRecord> actual, std::span<const DumpRecord> expected,
              const NameMap& map, const MatchOptions& options)
      : options_(options) {
    const std::vector<FamilyPair> families = pair_families(actual, expected, map);
    theirs_.resize(families.size());
    for (std::size_t i = 0; i < families.size(); ++i) {
      for (const DumpRecord* call : families[i].expected.calls) {
        if (is_usable(*call)) theirs_[i].emplace(*call->seq, call);
      }
      for (const DumpRecord* call : families[i].actual.calls) {
        if (is_usable(*call)) calls_.push_back({*call->seq, call, &theirs_[i]});
      }
    }
    std::stable_sort(
        calls_.begin(), calls_.end(),
        [](const NumberedCall& a, const NumberedCall& b) { return a.number < b.number; });
    choose_places();
  }

  std::optional<NumberShift> find() {
    Outcome best;
    for (const std::int64_t by : candidates()) {
      const Outcome outcome = tried(by);
      if (outcome.pairs > best.pairs) best = outcome;
    }
    if (best.pairs == 0) return std::nullopt;
    std::size_t first = best.split == 0 ? 0 : places_[best.split - 1] + 1;
    while (fits(calls_[first], 0)) ++first;  // the place that was tried does not
    return NumberShift{best.by, calls_[first].call};
  }

 private:
  /// The number of pairs if numbers are unchanged before a place and shifted from there on; 0 pairs
  /// if that is not clearly better.
  struct Outcome {
    std::int64_t by = 0;
    std::size_t split = 0, pairs = 0;
  };

  // Chooses some of all calls, and some from the first call without a partner on.
  void choose_places() {
    constexpr std::size_t kMost = 64;
    add_spread(0, calls_.size(), kMost, places_);
    const auto alone = std::find_if(calls_.begin(), calls_.end(), [](const NumberedCall& c) {
      return !c.theirs->contains(c.number);
    });
    add_spread(static_cast<std::size_t>(alone - calls_.begin()), calls_.size(), kMost, places_);
    std::sort(places_.begin(), places_.end());
    places_.erase(std::unique(places_.begin(), places_.end()), places_.end());
  }

  // Empty if the values do not decide.
  std::optional<bool> agree(const DumpRecord& actual, const DumpRecord& expected) {
    constexpr double kFarthest = 0.1;  // of their size
    const std::vector<double>& a = sample(actual, options_.sample_actual);
    const std::vector<double>& e = sample(expected, options_.sample_expected);
    if (a.empty() || e.empty()) return std::nullopt;
    if (a.size() != e.size()) return false;
    const bool is_near = sample_distance(a, e) <= kFarthest;
    return is_near && is_constant(e) ? std::nullopt : std::optional(is_near);
  }

  const std::vector<double>& sample(const DumpRecord& call, const ValueSample& read) {
    const auto [place, is_new] = samples_.try_emplace(&call);
    const DumpEntry* output = is_new && read ? largest_output(call) : nullptr;
    if (output != nullptr) place->second = read(*output);
    return place->second;
  }

  bool fits(const NumberedCall& call, std::int64_t shift) {
    const auto found = call.theirs->find(call.number - shift);
    return found != call.theirs->end() && agree(*call.call, *found->second).value_or(true);
  }

  // Differences of numbers under which some calls without a fitting partner find one, the most
  // frequent first.
  std::vector<std::int64_t> candidates() {
    constexpr std::size_t kMostCalls = 8, kMostShifts = 8;
    std::vector<std::size_t> misfits, chosen;
    for (const std::size_t place : places_) {
      if (!fits(calls_[place], 0)) misfits.push_back(place);
    }
    add_spread(0, misfits.size(), kMostCalls, chosen);
    std::map<std::int64_t, int> by_values, by_names;
    for (const std::size_t i : chosen) vote(calls_[misfits[i]], by_values, by_names);
    const auto& votes = by_values.empty() ? by_names : by_values;
    std::vector<std::pair<std::int64_t, int>> sorted(votes.begin(), votes.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      return a.second != b.second ? a.second > b.second : std::abs(a.first) < std::abs(b.first);
    });
    std::vector<std::int64_t> shifts;
    for (const auto& [shift, count] : sorted) {
      if (shifts.size() < kMostShifts) shifts.push_back(shift);
    }
    return shifts;
  }

  // Counts the shifts to calls of the same operator with close numbers.
  void vote(const NumberedCall& call, std::map<std::int64_t, int>& by_values,
            std::map<std::int64_t, int>& by_names) {
    constexpr int kMostOnOneSide = 128;
    const auto try_one = [&](const Calls::value_type& theirs) {
      const std::optional<bool> is_near = agree(*call.call, *theirs.second);
      if (is_near.value_or(true)) ++(is_near ? by_values : by_names)[call.number - theirs.first];
    };
    const auto middle = call.theirs->lower_bound(call.number);
    int left = kMostOnOneSide;
    for (auto it = middle; it != call.theirs->end() && left > 0; ++it, --left) try_one(*it);
    left = kMostOnOneSide;
    for (auto it = middle; it != call.theirs->begin() && left > 0; --left) try_one(*--it);
  }

  Outcome tried(std::int64_t by) {
    constexpr std::size_t kFewest = 3;
    // Counted from the end: fitting calls from each place on, unchanged and shifted.
    std::vector<std::size_t> as_is(places_.size() + 1), shifted(places_.size() + 1);
    for (std::size_t i = places_.size(); i-- > 0;) {
      as_is[i] = as_is[i + 1] + fits(calls_[places_[i]], 0);
      shifted[i] = shifted[i + 1] + fits(calls_[places_[i]], by);
    }
    Outcome best{.by = by};
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const bool is_clear = shifted[i] > 2 * as_is[i] && shifted[i] >= kFewest &&
                            2 * shifted[i] > places_.size() - i && !fits(calls_[places_[i]], 0);
      const std::size_t pairs = as_is[0] - as_is[i] + shifted[i];
      if (is_clear && pairs > best.pairs) best = {by, i, pairs};
    }
    return best;
  }

  const MatchOptions& options_;
  std::vector<Calls> theirs_;        // of each family
  std::vector<NumberedCall> calls_;  // by their numbers
  std::vector<std::size_t> places_;  // of the calls that are tried
  std::map<const DumpRecord*, std::vector<double>> samples_;
};

}  // namespace

std::optional<NumberShift> number_shift(std::span<const DumpRecord> actual,
                                        std::span<const DumpRecord> expected, const NameMap& map,
                                        const MatchOptions& options) {
  return ShiftSearch(actual, expected, map, options).find();
}

}  // namespace opbench
