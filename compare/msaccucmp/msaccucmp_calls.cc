#include "compare/msaccucmp/msaccucmp_calls.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compare/match_dumps.h"

namespace opbench {
namespace {

/// Calls that are counted as one operator's.
struct Family {
  std::string_view place;  // the first of its operators, by which families are ordered
  std::vector<const DumpRecord*> calls;
};

/// By the name that an operator is counted under.
using Families = std::map<std::string_view, Family>;

Families families_of(std::span<const DumpRecord> records, const NameMap& map) {
  const auto& together = map.counted_together;
  Families families;
  for (const DumpRecord& record : records) {
    const bool is_together =
        std::find(together.begin(), together.end(), record.op) != together.end();
    Family& family = families[is_together ? together.front() : record.op];
    if (family.calls.empty() || record.op < family.place) family.place = record.op;
    family.calls.push_back(&record);
  }
  return families;
}

// Calls of two operators with one number share their place.
bool have_one_number(const DumpRecord& a, const DumpRecord& b) {
  return a.op != b.op && a.seq == b.seq && a.seq_text == b.seq_text;
}

}  // namespace

bool is_msaccucmp_tensor(const DumpEntry& entry) {
  const bool says_so = entry.attributes.type == std::int64_t{0};
  return entry.kind == EntryKind::tensor && (says_so || entry.attributes.count == 0);
}

MsaccucmpCalls::MsaccucmpCalls(std::span<const DumpRecord> records, const NameMap& map,
                               bool wants_inputs) {
  const Families families = families_of(records, map);
  std::vector<const Family*> ordered;
  for (const auto& [name, family] : families) ordered.push_back(&family);
  std::sort(ordered.begin(), ordered.end(),
            [](const Family* a, const Family* b) { return a->place < b->place; });
  calls_.reserve(records.size());
  for (const Family* family : ordered) {
    std::vector<const DumpRecord*> calls = family->calls;
    std::stable_sort(calls.begin(), calls.end(),
                     [](const auto* a, const auto* b) { return runs_before(*a, *b); });
    std::size_t k = 0;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (i > 0 && !have_one_number(*calls[i - 1], *calls[i])) ++k;
      add(*calls[i], k, wants_inputs);
    }
  }
  for (const MsaccucmpCall& call : calls_) by_op_[call.op].push_back(&call);
}

const MsaccucmpCall* MsaccucmpCalls::find(std::string_view op, std::size_t k) const {
  const auto calls = by_op_.find(op);
  if (calls == by_op_.end()) return nullptr;
  const auto found = std::lower_bound(
      calls->second.begin(), calls->second.end(), k,
      [](const MsaccucmpCall* call, std::size_t wanted) { return call->k < wanted; });
  if (found == calls->second.end() || (*found)->k != k || (*found)->tensors.empty()) return nullptr;
  return *found;
}

const DumpEntry* MsaccucmpCalls::tensor(const std::string& path) const {
  const auto found = by_path_.find(path);
  return found == by_path_.end() ? nullptr : found->second;
}

void MsaccucmpCalls::add(const DumpRecord& record, std::size_t k, bool wants_inputs) {
  MsaccucmpCall call{record.op, k, &record, {}};
  for (const DumpEntry& entry : record.entries) {
    if (!is_msaccucmp_tensor(entry)) continue;
    if (entry.side == Side::input && !wants_inputs) continue;
    call.tensors.push_back(&entry);
    by_path_.emplace(entry.path, &entry);
  }
  if (record.seq) largest_seq_ = std::max(largest_seq_, *record.seq);
  calls_.push_back(std::move(call));
}

}  // namespace opbench
