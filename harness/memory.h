#pragma once

#include <cstddef>

namespace opbench {

/// Memory this machine can still give, in bytes.
std::size_t available_memory();

}  // namespace opbench
