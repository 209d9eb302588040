// Kernels in a shared library for `opbench --kernels libmine.so`, in C++17: functions and lambdas
// instead of the table of <opbench/opbench_plugin.h>. Including it makes the library export
// opbench_plugin(). An exception becomes an error of the case.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "opbench/opbench_plugin.h"

namespace opbench::plugin {

/// A kernel that is prepared for one use. All functions but `call` may be empty.
struct Session {
  std::function<void(const DLTensor* inputs, DLTensor* outputs)> call = {};
  /// Copy inputs to the device and outputs from it; required if the device has its own memory.
  std::function<void(const DLTensor* inputs)> load = {};
  std::function<void(DLTensor* outputs)> fetch = {};
  /// Returns the seconds by the device's events; a negative number without events.
  std::function<double()> wait = {};
};

/// A kernel. `refuse` may be empty; it returns "" if the kernel takes the case.
struct Kernel {
  std::string op, name, summary;
  std::string dtypes;   // "fp32,fp16"; "": all of the operator's
  std::string formats;  // "ND,NC1HWC0"; "": formats without padding
  std::function<Session(const OpbenchCase&)> prepare = {};
  std::function<std::string(const OpbenchCase&)> refuse = {};
};

/// The device of the library.
struct Device {
  std::string name = "cpu";
  std::string hardware, software;
  std::int32_t type = 1;  // as in DLDevice
  bool has_own_memory = false;
  std::function<void()> evict = {};  // empties the caches; may be empty
};

/// The elements of a tensor.
template <class T>
T* data_of(const DLTensor& tensor) {
  return reinterpret_cast<T*>(static_cast<char*>(tensor.data) + tensor.byte_offset);
}

namespace implementation {

struct Library {
  std::deque<Kernel> kernels;
  Device device;
  std::vector<OpbenchKernel> rows;
  OpbenchPlugin plugin = {};
  std::string error, refusal;
};

inline Library& library() {
  static Library only;
  return only;
}

/// Calls a function. Returns 1 after an exception, and keeps its text.
template <class Function>
int guarded(const Function& function) {
  try {
    function();
    return 0;
  } catch (const std::exception& error) {
    library().error = error.what();
  } catch (...) {
    library().error = "an exception of an unknown type";
  }
  return 1;
}

inline const Kernel& kernel_of(const OpbenchCase* use) {
  return *static_cast<const Kernel*>(use->kernel->own);
}

inline Session& session_of(void* state) { return *static_cast<Session*>(state); }

inline const char* refuse(const OpbenchCase* use) {
  const Kernel& kernel = kernel_of(use);
  std::string& reason = library().refusal;
  if (guarded([&] { reason = kernel.refuse ? kernel.refuse(*use) : ""; }) != 0)
    reason = library().error;
  return reason.empty() ? nullptr : reason.c_str();
}

inline int prepare(const OpbenchCase* use, void** state) {
  return guarded([&] { *state = new Session(kernel_of(use).prepare(*use)); });
}

inline int load(void* state, const DLTensor* inputs) {
  return guarded([&] { session_of(state).load(inputs); });
}

inline int call(void* state, const DLTensor* inputs, DLTensor* outputs) {
  return guarded([&] { session_of(state).call(inputs, outputs); });
}

inline int wait(void* state, double* device_seconds) {
  return guarded([&] {
    if (session_of(state).wait) *device_seconds = session_of(state).wait();
  });
}

inline int fetch(void* state, DLTensor* outputs) {
  return guarded([&] { session_of(state).fetch(outputs); });
}

inline void close(void* state) { delete static_cast<Session*>(state); }

inline int evict() { return guarded(library().device.evict); }

inline OpbenchKernel row_of(const Kernel& kernel) {
  OpbenchKernel row = {};
  row.op = kernel.op.c_str();
  row.name = kernel.name.c_str();
  row.summary = kernel.summary.c_str();
  row.dtypes = kernel.dtypes.c_str();
  row.formats = kernel.formats.c_str();
  row.refuse = refuse;
  row.prepare = prepare;
  row.call = call;
  row.wait = wait;
  row.close = close;
  row.own = &kernel;
  if (library().device.has_own_memory) {
    row.load = load;
    row.fetch = fetch;
  }
  return row;
}

inline const OpbenchPlugin* plugin() {
  Library& all = library();
  all.rows.clear();
  for (const Kernel& kernel : all.kernels) all.rows.push_back(row_of(kernel));
  all.plugin = {};
  all.plugin.major = OPBENCH_PLUGIN_MAJOR;
  all.plugin.minor = OPBENCH_PLUGIN_MINOR;
  all.plugin.kernel_bytes = sizeof(OpbenchKernel);
  all.plugin.kernels = all.rows.data();
  all.plugin.kernel_count = all.rows.size();
  all.plugin.device = all.device.name.c_str();
  all.plugin.hardware = all.device.hardware.c_str();
  all.plugin.software = all.device.software.c_str();
  all.plugin.device_type = all.device.type;
  all.plugin.error = [] { return library().error.c_str(); };
  if (all.device.evict) all.plugin.evict = evict;
  return &all.plugin;
}

}  // namespace implementation

/// Adds a kernel to the library. Construct it at namespace scope.
struct RegisteredKernel {
  explicit RegisteredKernel(Kernel kernel) {
    implementation::library().kernels.push_back(std::move(kernel));
  }
};

/// Describes the device of the library; without it the kernels run on the CPU.
struct RegisteredDevice {
  explicit RegisteredDevice(Device device) { implementation::library().device = std::move(device); }
};

}  // namespace opbench::plugin

extern "C" __attribute__((used)) inline const OpbenchPlugin* opbench_plugin() {
  return opbench::plugin::implementation::plugin();
}
