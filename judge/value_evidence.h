#pragma once

#include <vector>

#include "judge/evidence.h"

namespace opbench {

/// Adds what finite values tell: see DepartureEvidence. Of the elements marked in `only`, if that
/// is given.
void add_value_evidence(const DepartedValues& values, const std::vector<bool>* only,
                        DepartureEvidence& evidence);

}  // namespace opbench
