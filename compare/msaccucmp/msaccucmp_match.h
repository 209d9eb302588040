#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compare/matching.h"
#include "compare/name_map.h"
#include "dump/dump_types.h"

namespace opbench {

/// msaccucmp skips what has attributes but no Type of a tensor, and ends where there are none at
/// all; here the latter is a tensor.
bool is_msaccucmp_tensor(const DumpEntry& entry);

/// One execution of an operator: msaccucmp's "extended name" op:k.
struct MsaccucmpCall {
  std::string_view op;
  std::size_t k = 0;
  const DumpRecord* record = nullptr;
  std::vector<const DumpEntry*> tensors;
};

/// The executions of a dump as msaccucmp numbers and lists them: by operator, then by number;
/// operators that are counted together stand as one where the first of them does. Points into the
/// records.
class MsaccucmpCalls {
 public:
  MsaccucmpCalls(std::span<const DumpRecord> records, const NameMap& map, bool wants_inputs);

  const std::vector<MsaccucmpCall>& calls() const { return calls_; }
  /// The call op:k if it holds tensors, else null.
  const MsaccucmpCall* find(std::string_view op, std::size_t k) const;
  /// The tensor of that path, whatever call it is in; null if there is none.
  const DumpEntry* tensor(const std::string& path) const;
  std::int64_t largest_seq() const { return largest_seq_; }

 private:
  void add(const DumpRecord& record, std::size_t k, bool wants_inputs);

  std::vector<MsaccucmpCall> calls_;
  std::unordered_map<std::string_view, std::vector<const MsaccucmpCall*>> by_op_;  // k rising
  std::unordered_map<std::string_view, const DumpEntry*> by_path_;
  std::int64_t largest_seq_ = 0;
};

/// The rows of msaccucmp's result in its order, by its own rules: the k-th execution of an operator
/// against the k-th of its partner, names and parameters mapped, load mode where `actual` holds no
/// inputs of any kind, then what is left of the golden dump. Only tensors get rows.
/// `actual` and `golden` are ordered as DumpSource::records() gives them; rows point into them.
/// Source: the behaviour of msaccucmp.py of CANN 8.1.
std::vector<MsaccucmpRow> match_as_msaccucmp(std::span<const DumpRecord> actual,
                                             std::span<const DumpRecord> golden,
                                             const NameMap& map = default_name_map());

/// The first device of a dump's tensors that is not the CPU, in the file's order; the CPU if there
/// is none. msaccucmp does not look at the golden dump's inputs in load mode.
DeviceType device_of(std::span<const DumpRecord> records, bool counts_inputs = true);

}  // namespace opbench
