#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/check/code_fingerprint.h"
#include "kernels/kernel.h"

namespace opbench::check {

/// The code that this process runs.
class OwnCode {
 public:
  /// Reads the program's own file. Errors: throws Error that says why it cannot: another machine
  /// than x86-64, a stripped program, one linked without --emit-relocs.
  OwnCode();

  /// Fingerprint of all that calls of these kernels run: the code of the kernels, of what measures
  /// them and of what gives them memory, the instruction set in use, and the libraries that are
  /// loaded.
  /// Errors: throws Error for a kernel that cannot be followed.
  std::string of(std::span<const Kernel* const> kernels);

 private:
  std::uint64_t load_address_ = 0;
  std::string libraries_;
  ProgramCode code_;
  std::vector<std::uint64_t> harness_;  // addresses
};

}  // namespace opbench::check
