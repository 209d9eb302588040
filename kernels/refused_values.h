#pragma once

#include "tensor/error.h"

namespace opbench {

/// Thrown by a call whose variant takes the problem, but not these values: a refusal that only the
/// call could see. A run reports it as skipped.
class RefusedValues : public Error {
 public:
  using Error::Error;
};

}  // namespace opbench
