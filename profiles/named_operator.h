#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dump/dump_types.h"
#include "harness/plan/recorded_call.h"
#include "ops/op_table.h"
#include "profiles/profiled_case.h"

namespace opbench {

/// An operator of a profile in the form of a dump record, for lookup in the operator table.
struct NamedOperator {
  DumpRecord record;
  Results results = Results::recorded;
  std::vector<std::size_t> places;  ///< of its entries among the tensors of their side
  std::vector<std::string> notes;   ///< replaced properties of its tensors
  std::string obstacle;
};

/// The operator with its tensors under the names that a row's use reads, or the obstacle: a tensor
/// whose shape or dtype is not known.
NamedOperator named_operator(const ProfiledOperator& one, const OpUse& use);

}  // namespace opbench
