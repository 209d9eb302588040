#pragma once

#include <iosfwd>
#include <span>
#include <string>

#include "harness/report/shown_tensor.h"

namespace opbench {

/// A list with a flat object for each dataset, which pandas.read_json makes a table of. What was
/// not looked at or has no value is null.
void write_show_json(std::ostream& out, const std::string& file,
                     std::span<const ShownTensor> tensors);

}  // namespace opbench
