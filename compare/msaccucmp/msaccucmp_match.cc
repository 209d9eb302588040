#include "compare/msaccucmp/msaccucmp_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "compare/match_dumps.h"

namespace opbench {
namespace {

/// Calls that are counted as those of one operator.
struct CountedFamily {
  std::string_view place;  // the first of its operators, by which families are ordered
  std::vector<const DumpRecord*> calls;
};

/// Keys are the names under which operators are counted.
using CountedFamilies = std::map<std::string_view, CountedFamily>;

CountedFamilies counted_families(std::span<const DumpRecord> records, const NameMap& map) {
  const auto& together = map.counted_together;
  CountedFamilies families;
  for (const DumpRecord& record : records) {
    const bool is_together =
        std::find(together.begin(), together.end(), record.op) != together.end();
    CountedFamily& family = families[is_together ? together.front() : record.op];
    if (family.calls.empty() || record.op < family.place) family.place = record.op;
    family.calls.push_back(&record);
  }
  return families;
}

// Calls of two operators with the same number have the same place.
bool have_one_number(const DumpRecord& a, const DumpRecord& b) {
  return a.op != b.op && a.seq == b.seq && a.seq_text == b.seq_text;
}

// The rest of a path /{op}/{seq}/{rest} after the record's own path.
std::string rest_of(const DumpRecord& record, const DumpEntry& entry) {
  return entry.path.substr(record.op.size() + record.seq_text.size() + 2);
}

// NpuTanh on the NPU is ThnnTanh on the CPU and CudnnTanh on the GPU.
std::string by_prefix(std::string_view op, DeviceType other_device) {
  const auto renamed = [&](std::string_view from, std::string_view to) {
    return std::string(to) + std::string(op.substr(from.size()));
  };
  if (op.starts_with("Npu")) {
    if (other_device == DeviceType::cpu) return renamed("Npu", "Thnn");
    if (other_device == DeviceType::cuda) return renamed("Npu", "Cudnn");
  }
  if (op.starts_with("Thnn")) return renamed("Thnn", "Npu");
  if (op.starts_with("Cudnn")) return renamed("Cudnn", "Npu");
  return std::string(op);
}

// Finds partners of one dump's calls and tensors in the other dump.
class Lookup {
 public:
  Lookup(const NameMap& map, const MsaccucmpCalls& other, DeviceType other_device,
         bool is_load_mode)
      : map_(map), other_(other), other_device_(other_device), is_load_mode_(is_load_mode) {}

  const MsaccucmpCall* partner(const MsaccucmpCall& call) const {
    if (const MsaccucmpCall* same = other_.find(call.op, call.k)) return same;
    if (const auto candidates = map_.ops.find(call.op); candidates != map_.ops.end()) {
      for (const std::string& candidate : candidates->second) {
        if (const MsaccucmpCall* found = other_.find(candidate, call.k)) return found;
      }
    }
    return other_.find(by_prefix(call.op, other_device_), call.k);
  }

  // `other` is the call's partner. It may be null in load mode, where the tensor can be in any
  // call.
  const DumpEntry* partner(const MsaccucmpCall& call, const DumpEntry& entry,
                           const MsaccucmpCall* other) const {
    if (other == nullptr && !is_load_mode_) return nullptr;
    const std::string& seq = is_load_mode_ ? call.record->seq_text : other->record->seq_text;
    const std::string path =
        fmt::format("/{}/{}{}", name(call, other), seq, rest_of(*call.record, entry));
    if (const DumpEntry* same = other_.tensor(path)) return same;
    const auto params = map_.params.find(call.op);
    if (params == map_.params.end()) return nullptr;
    const std::size_t slash = path.rfind('/');
    const auto renamed = params->second.find(std::string_view(path).substr(slash + 1));
    if (renamed == params->second.end()) return nullptr;
    return other_.tensor(path.substr(0, slash + 1) + renamed->second);
  }

  // The name of a call's operator in the other dump.
  std::string name(const MsaccucmpCall& call, const MsaccucmpCall* partner) const {
    return partner != nullptr ? std::string(partner->op) : by_prefix(call.op, other_device_);
  }

 private:
  const NameMap& map_;
  const MsaccucmpCalls& other_;
  DeviceType other_device_;
  bool is_load_mode_;
};

struct OrderedRow {
  std::optional<std::int64_t> index;  // none for records without a number, which come last
  MsaccucmpRow row;
};

class Matching {
 public:
  Matching(const MsaccucmpCalls& actual, const MsaccucmpCalls& golden, const Lookup& forward,
           const Lookup& back)
      : actual_(actual), golden_(golden), forward_(forward), back_(back) {}

  std::vector<MsaccucmpRow> rows() {
    std::vector<const MsaccucmpCall*> executed;
    for (const MsaccucmpCall& call : actual_.calls()) executed.push_back(&call);
    std::stable_sort(executed.begin(), executed.end(),
                     [](const MsaccucmpCall* a, const MsaccucmpCall* b) {
                       return runs_before(*a->record, *b->record);
                     });
    for (const MsaccucmpCall* call : executed) add_call(*call);
    for (const MsaccucmpCall& call : golden_.calls()) add_leftover(call);
    std::stable_sort(rows_.begin(), rows_.end(), [](const OrderedRow& a, const OrderedRow& b) {
      if (a.index && b.index) return *a.index < *b.index;
      return a.index.has_value() && !b.index.has_value();
    });
    std::vector<MsaccucmpRow> rows;
    rows.reserve(rows_.size());
    for (OrderedRow& ordered : rows_) rows.push_back(std::move(ordered.row));
    return rows;
  }

 private:
  static MsaccucmpRow row_of(const MsaccucmpCall& call) {
    return {call.record->seq_text, std::string(call.op), "", "", {}};
  }

  void push(std::optional<std::int64_t> index, MsaccucmpRow row) {
    if (index) row.index = std::to_string(*index);
    rows_.push_back({index, std::move(row)});
  }

  void add_call(const MsaccucmpCall& call) {
    const MsaccucmpCall* other = forward_.partner(call);
    std::vector<const DumpEntry*> partners;
    for (const DumpEntry* tensor : call.tensors) {
      partners.push_back(other == nullptr ? nullptr : forward_.partner(call, *tensor, other));
    }
    if (partners.empty()) return;
    const bool is_unknown =
        std::all_of(partners.begin(), partners.end(), [](const auto* p) { return p == nullptr; });
    if (is_unknown) {
      MsaccucmpRow row = row_of(call);
      row.reason = fmt::format("No data match with op:{} in golden dump data.", call.op);
      return push(call.record->seq, std::move(row));
    }
    for (std::size_t i = 0; i < partners.size(); ++i) {
      add_tensor(call, *call.tensors[i], partners[i]);
    }
  }

  void add_tensor(const MsaccucmpCall& call, const DumpEntry& tensor, const DumpEntry* partner) {
    MsaccucmpRow row = row_of(call);
    row.tensors = {&tensor, partner};
    if (partner == nullptr) {
      row.reason = fmt::format("No data match with {} in golden dump data.", tensor.path);
    }
    push(call.record->seq, std::move(row));
  }

  // Adds golden tensors without a partner in the actual dump. Unlike in the other direction, load
  // mode does not need an execution with that number.
  void add_leftover(const MsaccucmpCall& call) {
    const MsaccucmpCall* other = back_.partner(call);
    std::vector<const DumpEntry*> unmatched;
    for (const DumpEntry* tensor : call.tensors) {
      if (back_.partner(call, *tensor, other) == nullptr) unmatched.push_back(tensor);
    }
    const std::int64_t after_all = actual_.largest_seq() + 1;
    if (unmatched.empty()) return;
    if (unmatched.size() == call.tensors.size()) {
      const std::string path = fmt::format("/{}/{}", call.op, call.record->seq_text);
      return push(after_all, {"", kMsaccucmpNone, path, reason_of(path), {}});
    }
    for (const DumpEntry* tensor : unmatched) {
      const bool is_numbered = other != nullptr && other->record->seq;
      push(is_numbered ? *other->record->seq : after_all,
           {"", back_.name(call, other), "", reason_of(tensor->path), {nullptr, tensor}});
    }
  }

  static std::string reason_of(const std::string& golden_path) {
    return fmt::format("No data match with {} in my dump data.", golden_path);
  }

  const MsaccucmpCalls& actual_;
  const MsaccucmpCalls& golden_;
  const Lookup& forward_;
  const Lookup& back_;
  std::vector<OrderedRow> rows_;
};

}  // namespace

bool is_msaccucmp_tensor(const DumpEntry& entry) {
  const bool says_so = entry.attributes.type == std::int64_t{0};
  return entry.kind == EntryKind::tensor && (says_so || entry.attributes.count == 0);
}

MsaccucmpCalls::MsaccucmpCalls(std::span<const DumpRecord> records, const NameMap& map,
                               bool wants_inputs) {
  const CountedFamilies families = counted_families(records, map);
  std::vector<const CountedFamily*> ordered;
  for (const auto& [name, family] : families) ordered.push_back(&family);
  std::sort(ordered.begin(), ordered.end(),
            [](const CountedFamily* a, const CountedFamily* b) { return a->place < b->place; });
  calls_.reserve(records.size());
  for (const CountedFamily* family : ordered) {
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

DeviceType device_of(std::span<const DumpRecord> records, bool counts_inputs) {
  for (const DumpRecord& record : records) {
    for (const DumpEntry& entry : record.entries) {
      const auto& device = entry.attributes.device_type;
      if (entry.side == Side::input && !counts_inputs) continue;
      if (is_msaccucmp_tensor(entry) && device && *device != 0) return entry.device;
    }
  }
  return DeviceType::cpu;
}

std::vector<MsaccucmpRow> match_as_msaccucmp(std::span<const DumpRecord> actual,
                                             std::span<const DumpRecord> golden,
                                             const NameMap& map) {
  const bool is_load_mode = std::none_of(actual.begin(), actual.end(), holds_inputs);
  const MsaccucmpCalls mine(actual, map, true);
  const MsaccucmpCalls theirs(golden, map, !is_load_mode);
  const Lookup forward(map, theirs, device_of(golden, !is_load_mode), is_load_mode);
  const Lookup back(map, mine, DeviceType::npu, is_load_mode);
  return Matching(mine, theirs, forward, back).rows();
}

}  // namespace opbench
