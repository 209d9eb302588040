#pragma once

#include <string>
#include <vector>

namespace opbench::guest {

/// Names in the tables of a shared library.
struct ElfNames {
  std::vector<std::string> exported;  // functions
  std::vector<std::string> needed;    // libraries that it is linked with
};

/// Both are empty if the file is not an ELF file of 64 bits.
ElfNames read_elf(const std::string& file);

}  // namespace opbench::guest
