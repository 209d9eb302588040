#pragma once

#include <cstdint>
#include <span>

#include "harness/plan/recorded_attrs.h"
#include "harness/plan/recorded_call.h"
#include "ops/op.h"

namespace opbench {

/// Makes the problem of a use of an operator from its recorded inputs.
class RecordedProblem {
 public:
  /// `joins_rows`: the leading axes of the first input and of the result are rows of one matrix.
  RecordedProblem(const RecordedAttrs& attrs, TakenDTypes dtypes, bool joins_rows)
      : attrs_(attrs), dtypes_(dtypes), joins_rows_(joins_rows) {}

  /// A packed weight may be a transposed view: its second last axis is the packed one.
  /// Errors: throws Error if the operator refuses the inputs.
  Problem of(const OpUse& use, std::span<const DumpEntry* const> inputs) const;

  /// The shape in which a call with that first input records a result: leading axes instead of
  /// rows.
  Dims recorded_shape(const TensorDesc& output, const DumpEntry& first) const;

 private:
  Problem of(const OpUse& use, std::span<const DumpEntry* const> inputs,
             std::size_t axis_of_weight) const;
  Dims logical_shape(const OpUse& use, std::size_t i, const DumpEntry& entry,
                     std::size_t axis_of_weight) const;
  DType checked_dtype(const std::vector<DType>& dtypes, DType dtype) const;

  const RecordedAttrs& attrs_;
  TakenDTypes dtypes_;
  bool joins_rows_;
};

}  // namespace opbench
