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

/// One recorded call, looked at for overflow.
struct ScannedRecord {
  std::string op, seq;  ///< as in the file
  std::string dtype;    ///< of the output with the least headroom
  std::string path;     ///< of that output
  NewValues found;
  std::int64_t elements = 0;            ///< of all outputs
  std::optional<double> headroom_bits;  ///< the least of its outputs; none: nothing can overflow
  std::string problem;                  ///< why it could not be read; empty: it could

  bool has_overflow() const { return found.is_any(); }
};

/// What a loss scale may be, by the gradients of a dump that was made with `recorded`. Gradients
/// are the results of backward nodes; whatever ran from the first of them on must not overflow.
struct LossScaleAdvice {
  double recorded = 1;
  bool is_half = true;  ///< else no gradient was in fp16, and fp32 ones are held to its range
  /// The largest that is `recorded` times a power of two and keeps all values finite; none: they
  /// have overflowed already.
  std::optional<double> largest;
  std::string limit;       ///< path of the tensor that sets it
  double limit_value = 0;  ///< the largest magnitude in it
  /// The smallest such scale that leaves at most `kLost` of the gradients that are not 0 below
  /// fp16's normal numbers; none: no gradient says so.
  std::optional<double> smallest;
  static constexpr double kLost = 0.01;
  ValueRange gradients;  ///< as recorded

  /// The share of all gradients that are 0, and of those that are not 0 the share that is below
  /// fp16's normal numbers.
  double zero_share() const;
  double subnormal_share() const;
};

/// A dump that was looked at, in order of execution.
struct OverflowScan {
  std::string file;
  std::vector<ScannedRecord> records;
  std::optional<LossScaleAdvice> advice;  ///< none: it holds no backward pass in floating numbers
  std::vector<std::string> problems;

  const ScannedRecord* first() const;
  std::int64_t count() const;
};

struct ScanOptions {
  std::function<bool(std::string_view)> only;  ///< finds something in "relu" or "relu/2"
  double loss_scale = 1;                       ///< that the dump was made with
};

/// True for the names of backward nodes and of the device's gradient operators: MulBackward0,
/// ReluGrad, Conv2DBackpropInput.
bool is_backward(std::string_view op);

/// Reads every tensor once. Memory: some MiB. `progress` is called before each record; once `stop`
/// is true, those that are left are missing. Errors: those of DumpSource, but for single tensors.
OverflowScan scan_for_overflow(
    DumpSource& file, const ScanOptions& options,
    const std::function<void(std::size_t done, std::size_t all)>& progress,
    const std::function<bool()>& stop);

}  // namespace opbench
