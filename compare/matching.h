#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/name_map.h"
#include "dump/dump_types.h"
#include "judge/comparable.h"

namespace opbench {

/// A call of an operator in the one dump and its partner in the other; one of them may be missing.
struct OperatorMatch {
  const DumpRecord* actual = nullptr;
  const DumpRecord* expected = nullptr;
  std::string note;  ///< where it is not simply the k-th call of that name: "aligned: ..."
  std::vector<TensorMatch> tensors;  ///< tensors only; every one of both records, inputs first
};

/// One line of msaccucmp's result before the numbers.
struct MsaccucmpRow {
  std::string index;
  std::string npu_dump;  ///< "NaN" where there is none
  std::string golden;    ///< "/op/seq" where no tensor of it has a partner
  std::string reason;
  TensorMatch tensors;  ///< both set where numbers follow

  // "NaN" where there is none.
  std::string_view npu_path() const {
    return tensors.actual == nullptr ? "NaN" : std::string_view(tensors.actual->path);
  }
  std::string_view golden_path() const {
    if (tensors.expected != nullptr) return tensors.expected->path;
    return golden.empty() ? "NaN" : std::string_view(golden);
  }
};

}  // namespace opbench
