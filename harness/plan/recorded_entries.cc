#include "harness/plan/recorded_entries.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <string>

#include "ops/cast.h"
#include "ops/positional_call.h"

namespace opbench {

namespace {

const DumpEntry* entry_of_name(const DumpRecord& record, Side side, std::string_view name) {
  for (const DumpEntry& entry : record.entries) {
    if (entry.side == side && entry.name == name) return &entry;
  }
  return nullptr;
}

}  // namespace

const DumpEntry* entry_called(const DumpRecord& record, Side side, std::string_view name) {
  const DumpEntry* const found = entry_of_name(record, side, name);
  const PositionalCall* const call = found == nullptr ? find_positional_call(record.op) : nullptr;
  if (call == nullptr) return found;
  return entry_of_name(
      record, side, side == Side::input ? place_of_argument(*call, name) : place_of_result(name));
}

const DumpEntry* find_entry(const DumpRecord& record, Side side, const RecordedName& wanted) {
  constexpr std::string_view kOutput = "output ";
  for (const std::string& name : wanted.names) {
    const bool is_result = side == Side::input && name.starts_with(kOutput);
    const DumpEntry* found = is_result
                                 ? entry_called(record, Side::output, name.substr(kOutput.size()))
                                 : entry_called(record, side, name);
    if (found != nullptr) return found;
  }
  return nullptr;
}

const DumpEntry& tensor_of(const DumpRecord& record, Side side, const RecordedName& wanted,
                           Numbers numbers) {
  const DumpEntry* found = find_entry(record, side, wanted);
  const std::string_view where = side == Side::input ? "input" : "output";
  if (found == nullptr) {
    throw Unfit(fmt::format("{} {} is not recorded", where, fmt::join(wanted.names, " or ")));
  }
  const bool is_taken = found->kind == EntryKind::tensor ||
                        (numbers == Numbers::as_tensors && found->kind == EntryKind::scalar &&
                         found->desc.elements() == 1);
  if (!is_taken) throw Unfit(fmt::format("{} {} is not a tensor", where, found->name));
  if (!found->problem.empty()) throw Unfit(fmt::format("{}: {}", found->path, found->problem));
  return *found;
}

namespace {

// Elements of a list, in order. Undefined tensors leave gaps.
std::vector<const DumpEntry*> list_of(const DumpRecord& record, const std::string& pattern) {
  const std::string prefix = pattern.substr(0, pattern.size() - 1);
  std::vector<const DumpEntry*> all;
  for (std::size_t i = 0; i < record.entries.size(); ++i) {
    const DumpEntry* found = entry_called(record, Side::input, prefix + std::to_string(i));
    if (found == nullptr) break;
    all.push_back(&tensor_of(record, Side::input, {{found->name}, false}));
  }
  if (all.empty()) throw Unfit(fmt::format("input {}0 is not recorded", prefix));
  return all;
}

}  // namespace

std::vector<const DumpEntry*> inputs_of(const DumpRecord& record, const OpUse& use,
                                        Numbers numbers) {
  static const DumpEntry absent = [] {
    DumpEntry entry;
    entry.side = Side::input;
    entry.kind = EntryKind::tensor;
    entry.desc = describe(DType::fp32, {0});
    return entry;
  }();
  std::vector<const DumpEntry*> all;
  for (const RecordedName& wanted : use.inputs) {
    const bool is_there = find_entry(record, Side::input, wanted) != nullptr;
    if (wanted.names.size() == 1 && wanted.names[0].ends_with('*')) {
      for (const DumpEntry* entry : list_of(record, wanted.names[0])) all.push_back(entry);
    } else if (is_there || !wanted.is_optional) {
      all.push_back(&tensor_of(record, Side::input, wanted, numbers));
    } else {
      all.push_back(&absent);
    }
  }
  while (!all.empty() && all.back() == &absent) all.pop_back();
  return all;
}

RecordedName output_name(const OpUse& use, std::size_t i) {
  const auto is_list = [](const RecordedName& name) {
    return name.names.size() == 1 && name.names[0].ends_with('*');
  };
  if (i < use.outputs.size() && !is_list(use.outputs[i])) return use.outputs[i];
  if (use.outputs.empty() || !is_list(use.outputs.back())) return {};
  std::string name = use.outputs.back().names[0];
  name.pop_back();
  return {{name + std::to_string(i + 1 - use.outputs.size())}};
}

bool is_packed(const TensorSpec& spec, const DumpEntry& entry) {
  const auto takes = [&](DType dtype) {
    return std::find(spec.dtypes.begin(), spec.dtypes.end(), dtype) != spec.dtypes.end();
  };
  return entry.desc.dtype == DType::int32 && takes(DType::int4) && !takes(DType::int32);
}

Dims unpacked(Dims shape, std::size_t axis) {
  if (axis > shape.size()) return shape;
  std::int64_t& extent = shape[shape.size() - axis];
  if (extent > std::numeric_limits<std::int64_t>::max() / kInt4InInt32) {
    throw Unfit(fmt::format("{} cannot be packed: it is too large", to_string(shape)));
  }
  extent *= kInt4InInt32;
  return shape;
}

bool holds_packed(const TensorDesc& recorded, const TensorDesc& desc) {
  return recorded.dtype == DType::int32 && desc.dtype == DType::int4 &&
         recorded.shape != desc.shape && unpacked(recorded.shape, 1) == desc.shape;
}

}  // namespace opbench
