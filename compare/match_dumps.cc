#include "compare/match_dumps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "compare/align_calls.h"
#include "compare/checkpoint_names.h"
#include "compare/match_families.h"
#include "compare/matching.h"

namespace opbench {
namespace {

/// Calls that belong together, before their tensors are paired.
struct CallPair {
  const DumpRecord* actual = nullptr;
  const DumpRecord* expected = nullptr;
  std::string note;
};

// Adds the pairs of `alignment`, and every call that is not in it.
void add_aligned(const FamilyPair& family, const Alignment& alignment, std::string_view how,
                 std::vector<CallPair>& pairs) {
  const auto &mine = family.actual.calls, &theirs = family.expected.calls;
  std::size_t i = 0, j = 0;
  const auto add_single = [&](std::size_t to_i, std::size_t to_j) {
    if (i == to_i && j == to_j) return;
    std::string note;
    if (!mine.empty() && !theirs.empty()) {
      note = fmt::format("extra call: {} calls against {}, {}", mine.size(), theirs.size(), how);
    }
    for (; i < to_i; ++i) pairs.push_back({mine[i], nullptr, note});
    for (; j < to_j; ++j) pairs.push_back({nullptr, theirs[j], note});
  };
  for (const auto& [actual, expected] : alignment) {
    add_single(actual, expected);
    std::string note;
    if (actual != expected) {
      note = fmt::format("aligned: call {} of {} with call {} of {}, {}", actual + 1, mine.size(),
                         expected + 1, theirs.size(), how);
    }
    pairs.push_back({mine[i++], theirs[j++], std::move(note)});
  }
  add_single(mine.size(), theirs.size());
}

Alignment by_number(const FamilyPair& family) {
  const std::size_t count = std::min(family.actual.calls.size(), family.expected.calls.size());
  Alignment alignment;
  for (std::size_t k = 0; k < count; ++k) alignment.emplace_back(k, k);
  return alignment;
}

void pair_aligned(const FamilyPair& family, const MatchOptions& options,
                  std::vector<CallPair>& pairs) {
  constexpr std::size_t kMostCells = 1 << 20;
  CallLikeness likeness(family, options);
  const Alignment alignment = align(family.actual.calls.size(), family.expected.calls.size(),
                                    std::ref(likeness), CallLikeness::kSure, kMostCells);
  if (alignment.empty()) {
    return add_aligned(family, by_number(family), "by number: too many calls to align", pairs);
  }
  add_aligned(family, alignment,
              likeness.has_compared_tasks()    ? "by task"
              : likeness.has_compared_values() ? "by shape, dtype and inputs"
                                               : "by shape and dtype",
              pairs);
}

// Outputs of a run with the expected dump's inputs have that dump's sequence numbers.
void pair_by_seq(const FamilyPair& family, std::vector<CallPair>& pairs) {
  using Key = std::pair<std::int64_t, std::string>;
  const auto key = [](const DumpRecord& call) {
    return call.seq ? Key{*call.seq, {}} : Key{-1, call.seq_text};
  };
  std::multimap<Key, const DumpRecord*> theirs;
  for (const DumpRecord* call : family.expected.calls) theirs.emplace(key(*call), call);
  for (const DumpRecord* call : family.actual.calls) {
    const auto found = theirs.find(key(*call));
    pairs.push_back({call, found == theirs.end() ? nullptr : found->second, {}});
    if (found != theirs.end()) theirs.erase(found);
  }
  for (const auto& [seq, call] : theirs) pairs.push_back({nullptr, call, {}});
}

// True if the calls name their tasks, as for two steps of a context: equal numbers of conversions
// may be different conversions.
bool name_tasks(const FamilyPair& family) {
  const auto names_task = [](const DumpRecord* call) { return !task_of(*call).empty(); };
  const auto &mine = family.actual.calls, &theirs = family.expected.calls;
  return std::any_of(mine.begin(), mine.end(), names_task) &&
         std::any_of(theirs.begin(), theirs.end(), names_task);
}

void pair_calls(const FamilyPair& family, bool by_seq, const MatchOptions& options,
                std::vector<CallPair>& pairs) {
  const std::size_t mine = family.actual.calls.size(), theirs = family.expected.calls.size();
  if (by_seq) return pair_by_seq(family, pairs);
  const bool is_even = mine == theirs && !name_tasks(family);
  if (is_even || mine == 0 || theirs == 0 || options.rule == CallRule::by_number) {
    return add_aligned(family, by_number(family), "by number", pairs);
  }
  pair_aligned(family, options, pairs);
}

void note_other_name(CallPair& pair) {
  if (pair.actual == nullptr || pair.expected == nullptr) return;
  if (pair.actual->op == pair.expected->op) return;
  const std::string name = fmt::format("{} there", pair.expected->op);
  pair.note = pair.note.empty() ? name : fmt::format("{}; {}", name, pair.note);
}

bool before(const DumpRecord* a, const DumpRecord* b) { return runs_before(*a, *b); }

/// Sorts pairs: calls of the actual dump in their order, each other call after the partner of the
/// previous call.
std::vector<CallPair> in_order(std::vector<CallPair> pairs) {
  const auto single = std::stable_partition(
      pairs.begin(), pairs.end(), [](const CallPair& pair) { return pair.actual != nullptr; });
  std::stable_sort(pairs.begin(), single,
                   [](const CallPair& a, const CallPair& b) { return before(a.actual, b.actual); });
  // The expected dump's calls in their order; each as its place among the actual calls, or its own.
  std::vector<std::size_t> expected;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].expected != nullptr) expected.push_back(i);
  }
  std::stable_sort(expected.begin(), expected.end(), [&](std::size_t a, std::size_t b) {
    return before(pairs[a].expected, pairs[b].expected);
  });
  const auto places = static_cast<std::size_t>(single - pairs.begin());
  std::vector<std::vector<std::size_t>> behind(places + 1);  // [0]: before all
  std::size_t place = 0;
  for (const std::size_t i : expected) {
    if (i < places)
      place = i + 1;
    else
      behind[place].push_back(i);
  }
  std::vector<CallPair> ordered;
  ordered.reserve(pairs.size());
  for (std::size_t i = 0; i <= places; ++i) {
    if (i > 0) ordered.push_back(std::move(pairs[i - 1]));
    for (const std::size_t j : behind[i]) ordered.push_back(std::move(pairs[j]));
  }
  return ordered;
}

using ByPath = std::unordered_map<std::string_view, const DumpEntry*>;

// Pairs the parameters that two checkpoints keep under different keys, and takes them out of
// `theirs`. A name that occurs twice on a side is ambiguous.
void pair_parameters(std::vector<TensorMatch>& tensors, ByPath& theirs) {
  struct Named {
    std::vector<TensorMatch*> actual;
    std::vector<const DumpEntry*> expected;
  };
  std::unordered_map<std::string, Named> by_name;
  for (TensorMatch& match : tensors) {
    if (match.expected == nullptr) {
      by_name[checkpoint_name(match.actual->path)].actual.push_back(&match);
    }
  }
  for (const auto& [path, entry] : theirs) by_name[checkpoint_name(path)].expected.push_back(entry);
  for (const auto& [name, found] : by_name) {
    if (found.actual.size() != 1 || found.expected.size() != 1) continue;
    found.actual.front()->expected = found.expected.front();
    theirs.erase(found.expected.front()->path);
  }
}

// Pairs strays, which have no operator, by path, else as parameters of checkpoints.
void add_strays(const DumpContents& actual, const DumpContents& expected,
                std::vector<OperatorMatch>& matches) {
  OperatorMatch match;
  ByPath theirs;
  for (const DumpEntry& entry : expected.strays) {
    if (is_accounted_for(entry)) theirs.emplace(entry.path, &entry);
  }
  for (const DumpEntry& entry : actual.strays) {
    if (!is_accounted_for(entry)) continue;
    const auto found = theirs.find(entry.path);
    match.tensors.push_back({&entry, found == theirs.end() ? nullptr : found->second});
    if (found != theirs.end()) theirs.erase(found);
  }
  pair_parameters(match.tensors, theirs);
  // In the file's order. A file has each path once.
  for (const DumpEntry& entry : expected.strays) {
    const auto found = theirs.find(entry.path);
    if (found != theirs.end() && found->second == &entry)
      match.tensors.push_back({nullptr, &entry});
  }
  if (match.tensors.empty()) return;
  match.note = "outside of any operator";
  matches.push_back(std::move(match));
}

bool holds_outputs(const DumpRecord& record) {
  return std::any_of(record.entries.begin(), record.entries.end(), [](const DumpEntry& entry) {
    return entry.side == Side::output && entry.kind == EntryKind::tensor;
  });
}

}  // namespace

bool runs_before(const DumpRecord& a, const DumpRecord& b) {
  const auto key = [](const DumpRecord& record) {
    return std::tuple<bool, std::int64_t, const std::string&, const std::string&>(
        !record.seq, record.seq.value_or(0), record.seq_text, record.op);
  };
  return key(a) < key(b);
}

bool holds_inputs(const DumpRecord& record) {
  return record.has_input_group || !record.on(Side::input).empty();
}

bool is_load_mode(std::span<const DumpRecord> records) {
  return std::none_of(records.begin(), records.end(), holds_inputs) &&
         std::any_of(records.begin(), records.end(), holds_outputs);
}

std::vector<OperatorMatch> match_dumps(const DumpContents& actual, const DumpContents& expected,
                                       const NameMap& map, const MatchOptions& options) {
  const bool by_seq = is_load_mode(actual.records) && !is_load_mode(expected.records);
  std::vector<CallPair> pairs;
  for (const FamilyPair& family : pair_families(actual.records, expected.records, map)) {
    pair_calls(family, by_seq, options, pairs);
  }
  std::vector<OperatorMatch> matches;
  matches.reserve(pairs.size() + 1);
  for (CallPair& pair : in_order(std::move(pairs))) {
    note_other_name(pair);
    matches.push_back({pair.actual, pair.expected, std::move(pair.note),
                       match_tensors(pair.actual, pair.expected, map)});
  }
  add_strays(actual, expected, matches);
  return matches;
}

}  // namespace opbench
