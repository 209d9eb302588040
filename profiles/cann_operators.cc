#include "profiles/cann_operators.h"

#include <algorithm>

#include "ops/op_table.h"

namespace opbench {
namespace {

CannOperator read(const ProfiledCall& call) {
  return {items_of(call.names),   items_of(call.inputs),   items_of(call.outputs),
          items_of(call.scalars), std::string(call.each),  call.lists,
          items_of(call.into),    std::string(call.gives), std::string(call.part_of)};
}

}  // namespace

const std::vector<CannOperator>& cann_operators() {
  static const std::vector<CannOperator> all = [] {
    std::vector<CannOperator> read_all;
    for (const Op* op : RegisteredOp::all()) {
      for (const ProfiledCall& call : op->known_as.profiled) read_all.push_back(read(call));
    }
    return read_all;
  }();
  return all;
}

const CannOperator* find_cann_operator(std::string_view name) {
  for (const CannOperator& one : cann_operators()) {
    if (std::find(one.names.begin(), one.names.end(), name) != one.names.end()) return &one;
  }
  return nullptr;
}

std::string tensor_name(const std::vector<std::string>& names, std::size_t i) {
  const bool is_list = !names.empty() && names.back().ends_with('*');
  if (is_list && i + 1 >= names.size()) {
    const std::string& pattern = names.back();
    return pattern.substr(0, pattern.size() - 1) + std::to_string(i + 1 - names.size());
  }
  return i < names.size() ? names[i] : "";
}

}  // namespace opbench
