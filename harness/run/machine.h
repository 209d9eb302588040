#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace opbench {

/// What result files say about where they were made, so that numbers of different machines are not
/// compared by mistake.
struct Machine {
  std::string cpu;
  int cores = 0;  ///< that this process may use
  std::size_t l1d_bytes = 0, l2_bytes = 0, l3_bytes = 0;
  std::size_t memory_bytes = 0, available_bytes = 0;
  std::string governor;  ///< "unknown" where the kernel does not tell, as on most virtual machines
  std::string turbo;     ///< "on", "off", "unknown"
  bool is_virtual = false;
  double load = 0;  ///< processes running or waiting, over the last minute
  std::string os;
  std::string isa;  ///< that vector code uses
  std::vector<std::string> isas;
  std::string version, revision, compiler, flags, build_type;
  std::vector<std::pair<std::string, std::string>> libraries;
  std::string date;  ///< ISO 8601, UTC
};

Machine describe_machine();

}  // namespace opbench
