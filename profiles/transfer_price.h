#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/plan/remedy.h"
#include "profiles/ingest.h"

namespace opbench {

/// A measured kernel: the bytes that it reads and writes, and its median time.
struct MeasuredTransfer {
  double bytes = 0, us = 0;
};

/// The time of kernels by their bytes, call_us + us_per_byte * bytes.
struct LinearTime {
  double call_us = 0, us_per_byte = 0;

  double us(const KernelWork& work) const {
    return call_us * work.calls + us_per_byte * work.bytes;
  }
};

/// The line by Theil and Sen: the median of all slopes, then the median of what remains. Neither
/// number is negative. Needs two points with different bytes.
LinearTime fit_time(std::span<const MeasuredTransfer> points);

/// The median relative error if every second point, in the order of bytes, predicts the others, and
/// the others predict it.
double half_error(std::span<const MeasuredTransfer> points);

/// The time of one kind of kernel in a profile.
struct TransferPrice {
  std::string kind;  ///< "TransData"
  std::int64_t kernels = 0;
  std::vector<MeasuredTransfer> points;  ///< one of each different operator, by bytes
  std::optional<LinearTime> time;        ///< none: too few kernels or sizes
  double error = 0;                      ///< by `half_error`
};

/// The times of the kernels that a remedy can save, measured in a profile.
struct TransferPrices {
  TransferPrice trans_data, casts, copies;
  std::optional<double> step_us;  ///< the mean duration of a step
  std::string whole_name;         ///< of that duration: "step" or "profile"
};

/// Prices from the tasks of a profile with shapes, which must be read with samples.
TransferPrices transfer_prices(const IngestResult& result);

/// Sets the estimates of the remedy's steps; a step that changes no kernels with a price gets none.
void estimate_savings(const TransferPrices& prices, Remedy& remedy);

/// A line for each kind: "TransData: 57 kernels of 35 sizes, 17.3 us + 0.223 us/MiB; ...".
std::vector<std::string> price_lines(const TransferPrices& prices);

}  // namespace opbench
