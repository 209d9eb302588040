#pragma once

#include <string>

namespace opbench {

/// Version of the CPU vendor's library whose variants are built in; empty: none is.
std::string vendor_version();

}  // namespace opbench
