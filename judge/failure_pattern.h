#pragma once

#include <span>
#include <string>
#include <vector>

#include "judge/evidence.h"
#include "tensor/shape.h"

namespace opbench {

/// What wrong elements have in common that right ones do not: "only self > 88.72", "only axis 1
/// from 16 on", "only axis 3 where i % 16 = 15", "the last 3 elements", "the last block of 64".
/// Empty: nothing that is known, or all are wrong. `wrong` has an entry for each element of
/// `shape`, in row-major order.
std::string failure_pattern(const std::vector<bool>& wrong, const Dims& shape,
                            std::span<const InputValues> inputs);

}  // namespace opbench
