#pragma once

#include <string>

#include "harness/run/record.h"

namespace opbench::report {

/// A case's id for the eye: without attributes that have their default value, long lists cut.
/// `--case` takes it where no list is cut. An id that this program cannot read is shown as it is.
std::string shown_id(const Record& record);

}  // namespace opbench::report
