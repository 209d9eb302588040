#pragma once

#include <span>
#include <string>

#include "ops/op_table.h"
#include "tensor/dtype.h"

namespace opbench {

/// Random results, as recorded.
struct Draws {
  Drawn drawn;
  double first = 0, second = 0;         ///< p; from, to; mean, std
  DType dtype = DType::fp32;            ///< of the results
  std::span<const double> values;       ///< the results
  std::span<const double> inputs = {};  ///< of dropout: one for each
};

/// The reason why no correct kernel gives these draws; empty if it can. Impossible values are
/// wrong. A share, a mean or a spread is wrong if its probability is at most about 10^-9.
/// Drawn::somehow is never wrong, since its distribution is not known.
std::string wrong_draws(const Draws& draws);

}  // namespace opbench
