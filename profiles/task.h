#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "profiles/decimal.h"

namespace opbench {

/// The tensors of one side of a task as the profiler writes them, lists with ";" between tensors:
/// "32,3,224,224;64,3,11,11", "FLOAT;FLOAT", "NCHW;NCHW". An empty place is a scalar or an optional
/// tensor that is absent.
struct TensorTexts {
  std::string_view shapes, dtypes, formats;
};

/// Shares of a kernel's time in which a part of the core was busy, 0 to 1; of cube and vector cores
/// the larger one.
enum class Pipe { mac, vec, scalar, mte1, mte2, mte3, fixpipe };
inline constexpr std::size_t kPipes = 7;

/// A kernel that ran on a device: a row of a profiler's table. Texts are valid while the row is
/// looked at, empty where the table has none or says "N/A".
struct DeviceTask {
  std::string_view name, type, core, state, step, device, stream;
  bool has_kernel_name =
      false;  ///< tasks of one type are different kernels, which names tell apart
  std::optional<std::int64_t> start_ns;
  std::int64_t duration_ps = 0;
  int duration_digits = 0;  ///< behind the point, in us
  /// Rows that sum up several tasks: how many, and the shortest and the longest of them.
  std::int64_t count = 1;
  std::optional<std::int64_t> least_ps, most_ps;
  std::optional<std::int64_t> wait_ps;
  std::optional<std::int64_t> blocks;
  bool has_tensors = false;
  TensorTexts inputs, outputs;
  std::array<std::optional<double>, kPipes> pipes;
  std::string_view file;
  std::int64_t line = 0;
};

}  // namespace opbench
