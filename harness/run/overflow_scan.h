#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dump/dump_source.h"
#include "harness/run/value_range.h"

namespace opbench {

/// Result of scanning one recorded call for overflow.
struct ScannedRecord {
  std::string op, seq;  ///< names in the file
  std::string dtype;    ///< of the output with the least headroom
  std::string path;     ///< of that output
  NewValues found;
  std::int64_t elements = 0;            ///< of all outputs
  std::optional<double> headroom_bits;  ///< minimum of its outputs; none: no output can overflow
  std::string problem;                  ///< why it could not be read; empty: it was read

  bool has_overflow() const { return found.is_any(); }
};

/// Allowed loss scales by the gradients of a dump that was made with the scale `recorded`.
/// Gradients are the results of backward nodes. All nodes from the first backward node on must not
/// overflow.
struct LossScaleAdvice {
  double recorded = 1;
  /// False: no gradient is fp16; fp32 gradients are checked against fp16's range
  bool is_half = true;
  /// The largest product of `recorded` and a power of two that keeps all values finite; none: they
  /// have already overflowed.
  std::optional<double> largest;
  std::string limit;       ///< path of the tensor that limits it
  double limit_value = 0;  ///< its largest magnitude
  /// The smallest such scale that leaves at most the share `kLost` of the nonzero gradients below
  /// fp16's normal numbers; none: the gradients do not determine it.
  std::optional<double> smallest;
  static constexpr double kLost = 0.01;
  ValueRange gradients;  ///< as recorded

  /// Share of zeros in all gradients, and share of values below fp16's normal numbers in the
  /// nonzero gradients.
  double zero_share() const;
  double subnormal_share() const;
};

/// Scan of a dump, in order of execution.
struct OverflowScan {
  std::string file;
  std::vector<ScannedRecord> records;
  std::optional<LossScaleAdvice> advice;  ///< none: the dump has no floating-point backward pass
  std::vector<std::string> problems;

  const ScannedRecord* first() const;
  std::int64_t count() const;
};

struct ScanOptions {
  std::function<bool(std::string_view)> only;  ///< matches "relu" or "relu/2"
  double loss_scale = 1;                       ///< with which the dump was made
};

/// True for names of backward nodes and of the device's gradient operators: MulBackward0, ReluGrad,
/// Conv2DBackpropInput.
bool is_backward(std::string_view op);

/// Reads every tensor once. Memory: some MiB. `progress` is called before each record. If `stop`
/// becomes true, the remaining records are left out.
/// Errors: those of DumpSource, except for single tensors.
OverflowScan scan_for_overflow(
    DumpSource& file, const ScanOptions& options,
    const std::function<void(std::size_t done, std::size_t all)>& progress,
    const std::function<bool()>& stop);

}  // namespace opbench
