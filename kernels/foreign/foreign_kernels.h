#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/foreign/guest.h"
#include "kernels/kernel.h"

namespace opbench {

/// Kernels and devices from outside of the program, as on the command line.
struct ForeignSources {
  /// Libraries (.so) and Python files (.py) with kernels: "libmine.so",
  /// "libmine.so#0123456789abcdef" with the fingerprint that the file must have,
  /// "libtvm.so:fast=softplus" with the operator of an exported TVM-FFI function.
  std::vector<std::string> files;
  std::vector<std::string> devices;  ///< "torch:cpu", "torch:cuda:0", "torch:npu:0"

  bool operator==(const ForeignSources&) const = default;
};

/// Starts a guest for each source that is not there yet, and registers its kernels as variants:
/// those of a file by their names, and for a device a variant of its name for each operator that
/// torch computes. They stay until the process ends. Must be called before the first `kernels_of`.
/// Errors: throws Error for a wrong source, a guest that does not start, and kernels with unknown
/// operators or names that are taken.
void add_foreign_kernels(const ForeignSources& sources);

/// Bytes per second that the kernel's device moves in its own copy of `bytes` bytes in total; 0 if
/// it has no copy. Call inside `with_threads`.
/// Errors: throws those of the guest.
double device_copy_rate(const Kernel& kernel, std::size_t bytes);

/// Clock of a device.
struct DeviceClock {
  double mhz = 0;            ///< 0: not reported
  std::string throttled_by;  ///< reasons why it is reduced now; empty: it is not, or not reported
};

/// The present clock of the kernel's device; nothing is known for kernels of this program.
/// Errors: throws those of the guest.
DeviceClock device_clock(const Kernel& kernel);

/// A source with its guest, for reports.
struct ForeignSource {
  std::string flag, value;  ///< "--kernels", "libmine.so#0123456789abcdef"
  GuestDescription guest;
  double overhead_us = 0;  ///< of a request
};
std::vector<ForeignSource> foreign_sources();

}  // namespace opbench
