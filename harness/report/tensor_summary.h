#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "dump/dump_source.h"
#include "dump/number_text.h"

namespace opbench {

/// What a tensor's values come to. Least, greatest, mean, deviation and histogram are those of the
/// finite values.
struct TensorSummary {
  static constexpr std::size_t kBins = 16;

  std::int64_t count = 0, finite = 0, zeros = 0;
  std::int64_t nan = 0, positive_inf = 0, negative_inf = 0;
  Number min, max;                      ///< exact; meaningless without finite values
  double mean = 0, deviation = 0;       ///< of the population, as numpy.std
  std::vector<std::int64_t> histogram;  ///< kBins equally wide ones from min to max; or none

  std::int64_t not_finite() const { return nan + positive_inf + negative_inf; }
};

/// One element of an entry as it is meant: uint8 stored as int8 without its sign.
std::vector<Number> read_numbers(DumpSource& file, const DumpEntry& entry, ElementRange range);

/// Reads all of an entry, twice if it has more than a million elements. Memory: a few MiB for each
/// thread at hand (see with_threads). The same bits for any number of them.
/// Errors: throws Error if the entry cannot be read.
TensorSummary summarise(DumpSource& file, const DumpEntry& entry);

}  // namespace opbench
