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

/// msaccucmp skips objects with attributes but without a tensor's Type. It aborts at an object
/// without any attributes; here that object is a tensor.
bool is_msaccucmp_tensor(const DumpEntry& entry);

/// One execution of an operator: msaccucmp's "extended name" op:k.
struct MsaccucmpCall {
  std::string_view op;
  std::size_t k = 0;
  const DumpRecord* record = nullptr;
  std::vector<const DumpEntry*> tensors;
};

/// The executions of a dump with msaccucmp's numbers and order: by operator, then by number.
/// Operators that are counted together share the place of the first of them. Points into the
/// records.
class MsaccucmpCalls {
 public:
  MsaccucmpCalls(std::span<const DumpRecord> records, const NameMap& map, bool wants_inputs);

  const std::vector<MsaccucmpCall>& calls() const { return calls_; }
  /// The call op:k if it contains tensors, else null.
  const MsaccucmpCall* find(std::string_view op, std::size_t k) const;
  /// The tensor of that path in any call; null if it is missing.
  const DumpEntry* tensor(const std::string& path) const;
  std::int64_t largest_seq() const { return largest_seq_; }

 private:
  void add(const DumpRecord& record, std::size_t k, bool wants_inputs);

  std::vector<MsaccucmpCall> calls_;
  std::unordered_map<std::string_view, std::vector<const MsaccucmpCall*>> by_op_;  // k rising
  std::unordered_map<std::string_view, const DumpEntry*> by_path_;
  std::int64_t largest_seq_ = 0;
};

/// The rows of msaccucmp's result in its order, by its own rules. The k-th execution of an operator
/// pairs with the k-th of its partner, with names and parameters mapped. Load mode applies if
/// `actual` contains no inputs of any kind. The rest of the golden dump comes last. Only tensors
/// get rows. `actual` and `golden` are in the order of DumpSource::records(); rows point into them.
/// Source: the behaviour of msaccucmp.py of CANN 8.1.
std::vector<MsaccucmpRow> match_as_msaccucmp(std::span<const DumpRecord> actual,
                                             std::span<const DumpRecord> golden,
                                             const NameMap& map = default_name_map());

/// The first device of a dump's tensors that is not the CPU, in the file's order; the CPU if there
/// is no other. In load mode msaccucmp ignores the golden dump's inputs.
DeviceType device_of(std::span<const DumpRecord> records, bool counts_inputs = true);

}  // namespace opbench
