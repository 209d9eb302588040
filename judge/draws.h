#pragma once

#include <span>
#include <string>

#include "ops/op_table.h"
#include "tensor/dtype.h"

namespace opbench {

/// Random results, as they are recorded.
struct Draws {
  Drawn drawn;
  double first = 0, second = 0;         ///< p; from, to; mean, std
  DType dtype = DType::fp32;            ///< of the results
  std::span<const double> values;       ///< the results
  std::span<const double> inputs = {};  ///< of dropout: one for each
};

/// Why no right kernel leaves these draws; empty: it may. Values that cannot be drawn at all are
/// wrong; a share, a mean or a spread is if it comes about once in 10^9 times at most. Of Drawn::
/// somehow nothing is known.
std::string wrong_draws(const Draws& draws);

}  // namespace opbench
