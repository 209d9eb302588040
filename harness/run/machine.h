#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace opbench {

/// Description of the machine in result files. It prevents comparisons of numbers from different
/// machines.
struct Machine {
  std::string cpu;
  int cores = 0;  ///< available to this process
  std::size_t l1d_bytes = 0, l2_bytes = 0, l3_bytes = 0;
  std::size_t memory_bytes = 0, available_bytes = 0;
  /// "unknown" if the kernel does not report it, as on most virtual machines.
  std::string governor;
  std::string turbo;  ///< "on", "off", "unknown"
  bool is_virtual = false;
  double load = 0;  ///< processes that run or wait, average of the last minute
  std::string os;
  std::string isa;  ///< instruction set of the vector code
  std::vector<std::string> isas;
  std::string version, revision, compiler, flags, build_type;
  std::vector<std::pair<std::string, std::string>> libraries;
  std::string date;  ///< ISO 8601, UTC
};

Machine describe_machine();

}  // namespace opbench
