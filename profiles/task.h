#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opbench {

/// A decimal number as a whole number of small units, so that sums are exact and 19 digits stay.
struct Decimal {
  std::int64_t units = 0;
  int digits = 0;  ///< behind the point, as written
};

/// `text` in units of 10^-scale, rounded to the nearest; also "1.5e-05". Nothing for what is no
/// number, "N/A", or too large.
std::optional<Decimal> parse_decimal(std::string_view text, int scale);

/// `to` + `by`, as far as numbers go: hostile times add up to more.
inline void add_saturated(std::int64_t& to, std::int64_t by) {
  if (__builtin_add_overflow(to, by, &to)) to = by < 0 ? INT64_MIN : INT64_MAX;
}

/// Times are kept in picoseconds: microseconds with six digits behind the point.
inline constexpr int kPicoScale = 6;

/// Picoseconds as microseconds with three digits, "8873.737".
std::string us_text(std::int64_t picoseconds);

/// The same as a number.
inline double in_us(std::int64_t picoseconds) { return static_cast<double>(picoseconds) / 1e6; }

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

/// The name of a CUDA kernel without the type it returns, template arguments and parameters:
/// "at::native::vectorized_elementwise_kernel".
std::string_view short_kernel_name(std::string_view name);

/// One task of the step that is kept.
struct StepTask {
  std::string name, type, stream;
  std::int64_t start_ns = 0, duration_ps = 0;
  bool is_communication = false;
  double start_us = 0;  ///< since the step's first task began
};

/// The tasks of one step, to be drawn along the time: of the second step of the first device, as
/// the first one warms up, or of the first where there is no other. Up to `kMost` tasks are kept.
class StepTasks {
 public:
  static constexpr std::size_t kMost = 3000;

  void add(const DeviceTask& task, bool is_communication = false);

  /// By when they began; empty where starts are not known.
  std::vector<StepTask> tasks() const;
  /// Of the same step, beyond those that are kept.
  std::int64_t left_out() const { return chosen().left_out; }
  const std::string& step() const { return chosen().step; }

 private:
  struct Step {
    std::string step;
    std::vector<StepTask> tasks;
    std::int64_t left_out = 0;
    bool is_begun = false;
  };

  const Step& chosen() const { return second_.is_begun ? second_ : first_; }

  std::string file_, device_;
  Step first_, second_;
};

}  // namespace opbench
