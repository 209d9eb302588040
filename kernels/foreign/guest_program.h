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

/// Python with PyTorch on a device: "torch:cuda:0".
/// Errors: throws Error for another device.
GuestProgram program_for_device(const std::string& device);

}  // namespace opbench
