#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kernels/foreign/shared_memory.h"
#include "tensor/dtype.h"
#include "tensor/format.h"
#include "workers/process.h"

namespace opbench {

/// A kernel that a guest offers.
struct GuestKernel {
  std::string op, name, summary;
  std::vector<DType> dtypes;    ///< empty: all of the operator's
  std::vector<Format> formats;  ///< empty: those of the origin
};

/// A guest's answer to `describe` (docs/devices.md).
struct GuestDescription {
  std::string device, hardware, software;
  int device_type = 1;          ///< as in DLPack
  bool has_own_memory = false;  ///< tensors are copied by `load` and `fetch`
  bool runs_torch = false;
  bool reports_clocks = false;  ///< answers `clocks`
  std::vector<GuestKernel> kernels;
};

/// A program that computes kernels for this process: a library or a Python file of a user, or
/// PyTorch on a device. It shares the memory of the tensors and speaks the protocol of
/// docs/devices.md.
class Guest {
 public:
  /// Starts the program. `name` stands for it in messages: "libmine.so". Waits at most `seconds`
  /// for each answer, longer while the guest prepares.
  /// Errors: throws Error if it cannot be started or describes itself wrongly.
  Guest(std::vector<std::string> argv, std::string name, double seconds);

  const std::string& name() const { return name_; }
  const GuestDescription& description() const { return description_; }
  SharedMemory& memory() { return memory_; }
  /// Seconds from a request to its answer without work; median.
  double overhead_seconds() const { return overhead_seconds_; }

  /// Number of times that the program was started. A started program knows no sessions of earlier
  /// ones.
  int starts() const { return starts_; }
  /// Starts the program again if it has ended.
  void ensure_started();

  /// A request and its answer.
  /// Errors: throws Error with the text of the guest if it answers with an error, or states how its
  /// process ended.
  nlohmann::ordered_json ask(const nlohmann::ordered_json& request);

 private:
  void start();
  GuestDescription describe();
  double measure_overhead();
  nlohmann::ordered_json parsed(const std::string& line);

  const std::vector<std::string> argv_;
  const std::string name_;
  const double seconds_;
  SharedMemory memory_;
  std::optional<ChildProcess> process_;
  int starts_ = 0;
  GuestDescription description_;
  double overhead_seconds_ = 0;
};

/// The number of a JSON answer; none if it is missing or is not a finite number of seconds.
std::optional<double> seconds_member(const nlohmann::ordered_json& answer, const char* key);

}  // namespace opbench
