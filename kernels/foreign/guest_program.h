#pragma once

#include <string>
#include <vector>

namespace opbench {

/// A program that offers kernels.
struct GuestProgram {
  std::vector<std::string> argv;
  std::string name;    ///< of its file or device, for messages
  std::string source;  ///< value of the flag that selects it, with the file's fingerprint
  /// The file may export functions that are not kernels of operators.
  bool lists_functions = false;
};

/// The program for a file as in ForeignSources.
/// Errors: throws Error if the file cannot be read, is of another kind or has another fingerprint.
GuestProgram program_for_file(const std::string& file);

/// "torch:npu:0:high_performance" for "torch:npu:0" and the mode.
/// Errors: throws Error for another device than an NPU, or one that has a mode.
std::string with_impl_mode(const std::string& device, const std::string& mode);

/// Python with PyTorch on a device: "torch:cuda:0", "torch:npu:0:high_performance" with an
/// implementation mode.
/// Errors: throws Error for another device.
GuestProgram program_for_device(const std::string& device);

}  // namespace opbench
