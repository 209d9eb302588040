#pragma once

#include <span>
#include <string>
#include <string_view>

#include "compare/comparison.h"
#include "harness/run/record.h"

namespace opbench::report {

/// A tensor of a comparison and where it stands.
struct TensorRow {
  std::int64_t execution;  ///< place of its operator in order of execution, from 0
  const OperatorResult& op;
  const TensorResult& tensor;
};

/// A column of compare.csv and a key of compare.json.
struct TensorField {
  std::string_view name;
  Cell (*value)(const TensorRow& row);
};

/// All columns that hold one value; warnings and histogram follow them.
std::span<const TensorField> tensor_fields();

/// "input", "output", "other".
std::string_view name(Side side);

}  // namespace opbench::report
