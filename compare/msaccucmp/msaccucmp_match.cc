#include "compare/msaccucmp/msaccucmp_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "compare/match/match_dumps.h"

namespace opbench {
namespace {

constexpr const char* kNothing = "NaN";

// One execution of an operator: msaccucmp's "extended name" op:k.
struct Call {
  std::string_view op;
  std::size_t k = 0;
  const DumpRecord* record = nullptr;
  std::vector<const DumpEntry*> tensors;
};

// msaccucmp skips what has attributes but no Type of a tensor, and ends where there are none at
// all.
bool is_listed(const DumpEntry& entry) {
  const bool says_so = entry.attributes.type == std::int64_t{0};
  return entry.kind == EntryKind::tensor && (says_so || entry.attributes.count == 0);
}

std::string key(std::string_view op, std::size_t k) { return fmt::format("{}:{}", op, k); }

// /{op}/{seq}/{rest}: what stands behind the record's own path.
std::string rest_of(const DumpRecord& record, const DumpEntry& entry) {
  return entry.path.substr(record.op.size() + record.seq_text.size() + 2);
}

class Calls {
 public:
  Calls(std::span<const DumpRecord> records, const NameMap& map, bool wants_inputs) {
    std::map<std::string_view, std::vector<const DumpRecord*>> by_count;  // counted as one
    const auto group = [&](const std::string& op) {
      const auto& together = map.counted_together;
      const bool is_together = std::find(together.begin(), together.end(), op) != together.end();
      return std::string_view(is_together ? together.front() : op);
    };
    for (const DumpRecord& record : records) by_count[group(record.op)].push_back(&record);
    std::unordered_map<const DumpRecord*, std::size_t> k_of;
    for (auto& [name, calls] : by_count) number(calls, k_of);
    for (const DumpRecord& record : records) add(record, k_of.at(&record), wants_inputs);
    std::stable_sort(calls_.begin(), calls_.end(), [](const Call& a, const Call& b) {
      if (a.op != b.op) return a.op < b.op;
      return runs_before(*a.record, *b.record);
    });
    for (const Call& call : calls_) by_key_.emplace(key(call.op, call.k), &call);
  }

  const std::vector<Call>& calls() const { return calls_; }

  // The call if it holds tensors.
  const Call* find(std::string_view op, std::size_t k) const {
    const auto found = by_key_.find(key(op, k));
    return found == by_key_.end() || found->second->tensors.empty() ? nullptr : found->second;
  }

  const DumpEntry* tensor(const std::string& path) const {
    const auto found = by_path_.find(path);
    return found == by_path_.end() ? nullptr : found->second;
  }

  std::int64_t largest_seq() const { return largest_seq_; }

 private:
  // Two calls with one number, of two operators that are counted together, share their place.
  static void number(std::vector<const DumpRecord*>& calls,
                     std::unordered_map<const DumpRecord*, std::size_t>& k_of) {
    std::stable_sort(calls.begin(), calls.end(),
                     [](const auto* a, const auto* b) { return runs_before(*a, *b); });
    std::size_t k = 0;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const bool is_shared =
          i > 0 && calls[i]->op != calls[i - 1]->op && !runs_before(*calls[i - 1], *calls[i]);
      if (i > 0 && !is_shared) ++k;
      k_of[calls[i]] = k;
    }
  }

  void add(const DumpRecord& record, std::size_t k, bool wants_inputs) {
    Call call{record.op, k, &record, {}};
    for (const DumpEntry& entry : record.entries) {
      if (!is_listed(entry)) continue;
      if (entry.side == Side::input && !wants_inputs) continue;
      call.tensors.push_back(&entry);
      by_path_.emplace(entry.path, &entry);
    }
    if (record.seq) largest_seq_ = std::max(largest_seq_, *record.seq);
    calls_.push_back(std::move(call));
  }

  std::vector<Call> calls_;  // by operator, then in the order of execution
  std::unordered_map<std::string, const Call*> by_key_;
  std::unordered_map<std::string_view, const DumpEntry*> by_path_;
  std::int64_t largest_seq_ = 0;
};

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

// Looks from one dump into the other.
class Lookup {
 public:
  Lookup(const NameMap& map, const Calls& other, DeviceType other_device, bool is_load_mode)
      : map_(map), other_(other), other_device_(other_device), is_load_mode_(is_load_mode) {}

  const Call* partner(const Call& call) const {
    if (const Call* same = other_.find(call.op, call.k)) return same;
    if (const auto candidates = map_.ops.find(call.op); candidates != map_.ops.end()) {
      for (const std::string& candidate : candidates->second) {
        if (const Call* found = other_.find(candidate, call.k)) return found;
      }
    }
    return other_.find(by_prefix(call.op, other_device_), call.k);
  }

  const DumpEntry* partner(const Call& call, const DumpEntry& entry, const Call& other) const {
    const std::string& seq = is_load_mode_ ? call.record->seq_text : other.record->seq_text;
    const std::string path = fmt::format("/{}/{}{}", other.op, seq, rest_of(*call.record, entry));
    if (const DumpEntry* same = other_.tensor(path)) return same;
    const auto params = map_.params.find(call.op);
    if (params == map_.params.end()) return nullptr;
    const std::size_t slash = path.rfind('/');
    const auto renamed = params->second.find(std::string_view(path).substr(slash + 1));
    if (renamed == params->second.end()) return nullptr;
    return other_.tensor(path.substr(0, slash + 1) + renamed->second);
  }

 private:
  const NameMap& map_;
  const Calls& other_;
  DeviceType other_device_;
  bool is_load_mode_;
};

struct OrderedRow {
  std::optional<std::int64_t> index;  // none for records without a number, which come last
  MsaccucmpRow row;
};

class Matching {
 public:
  Matching(const Calls& actual, const Calls& golden, const Lookup& forward, const Lookup& back)
      : actual_(actual), golden_(golden), forward_(forward), back_(back) {}

  std::vector<MsaccucmpRow> rows() {
    std::vector<const Call*> executed;
    for (const Call& call : actual_.calls()) executed.push_back(&call);
    std::stable_sort(executed.begin(), executed.end(), [](const Call* a, const Call* b) {
      return runs_before(*a->record, *b->record);
    });
    for (const Call* call : executed) add_call(*call);
    for (const Call& call : golden_.calls()) add_leftover(call);
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
  static MsaccucmpRow row_of(const Call& call) {
    return {call.record->seq_text, std::string(call.op), kNothing, kNothing, "", {}};
  }

  void push(std::optional<std::int64_t> index, MsaccucmpRow row) {
    if (index) row.index = std::to_string(*index);
    rows_.push_back({index, std::move(row)});
  }

  void add_call(const Call& call) {
    const Call* other = forward_.partner(call);
    std::vector<const DumpEntry*> partners;
    for (const DumpEntry* tensor : call.tensors) {
      partners.push_back(other == nullptr ? nullptr : forward_.partner(call, *tensor, *other));
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

  void add_tensor(const Call& call, const DumpEntry& tensor, const DumpEntry* partner) {
    MsaccucmpRow row = row_of(call);
    row.npu_path = tensor.path;
    if (partner == nullptr) {
      row.reason = fmt::format("No data match with {} in golden dump data.", tensor.path);
    } else {
      row.golden_path = partner->path;
      row.tensors = {&tensor, partner};
    }
    push(call.record->seq, std::move(row));
  }

  // What no tensor of the other dump was found for, looking from the golden side.
  void add_leftover(const Call& call) {
    const Call* other = back_.partner(call);
    std::vector<const DumpEntry*> unmatched;
    for (const DumpEntry* tensor : call.tensors) {
      if (other == nullptr || back_.partner(call, *tensor, *other) == nullptr) {
        unmatched.push_back(tensor);
      }
    }
    const std::int64_t after_all = actual_.largest_seq() + 1;
    if (unmatched.empty()) return;
    if (unmatched.size() == call.tensors.size()) {
      const std::string path = fmt::format("/{}/{}", call.op, call.record->seq_text);
      return push(after_all, leftover(kNothing, path));
    }
    for (const DumpEntry* tensor : unmatched) {
      const auto index = other->record->seq ? *other->record->seq : after_all;
      push(index, leftover(std::string(other->op), tensor->path));
    }
  }

  static MsaccucmpRow leftover(std::string op, const std::string& path) {
    return {"",
            std::move(op),
            kNothing,
            path,
            fmt::format("No data match with {} in my dump data.", path),
            {}};
  }

  const Calls& actual_;
  const Calls& golden_;
  const Lookup& forward_;
  const Lookup& back_;
  std::vector<OrderedRow> rows_;
};

bool has_inputs(std::span<const DumpRecord> records) {
  return std::any_of(records.begin(), records.end(), [](const DumpRecord& record) {
    return std::any_of(record.entries.begin(), record.entries.end(), [](const DumpEntry& entry) {
      return entry.side == Side::input && is_listed(entry);
    });
  });
}

}  // namespace

DeviceType device_of(std::span<const DumpRecord> records) {
  for (const DumpRecord& record : records) {
    for (const DumpEntry& entry : record.entries) {
      const auto& device = entry.attributes.device_type;
      if (is_listed(entry) && device && *device != 0) return entry.device;
    }
  }
  return DeviceType::cpu;
}

std::vector<MsaccucmpRow> match_as_msaccucmp(std::span<const DumpRecord> actual,
                                             std::span<const DumpRecord> golden,
                                             const NameMap& map) {
  const bool is_load_mode = !has_inputs(actual);
  const Calls mine(actual, map, true);
  const Calls theirs(golden, map, !is_load_mode);
  const Lookup forward(map, theirs, device_of(golden), is_load_mode);
  const Lookup back(map, mine, DeviceType::npu, is_load_mode);
  return Matching(mine, theirs, forward, back).rows();
}

}  // namespace opbench
