#pragma once

#include <string>
#include <vector>

namespace opbench::guest {

/// Names that a shared library exports. Empty if the file is not an ELF file of this kind of
/// machine.
std::vector<std::string> exported_symbols(const std::string& file);

}  // namespace opbench::guest
