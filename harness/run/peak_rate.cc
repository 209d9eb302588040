#include "harness/run/peak_rate.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "harness/run/timing.h"
#include "kernels/simd/multiply_adds.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

// The best sample: this is a ceiling, and what disturbs a sample only lowers it.
double measure(bool in_fp64, int threads) {
  double rate = 0;
  with_threads(threads, [&] {
    const double operations = threads * multiply_add_operations(in_fp64);
    for (const Sample& sample :
         time_calls("multiply-add", {0.03, 9, {}, nullptr}, [&] { multiply_adds(in_fp64); })) {
      rate = std::max(rate, 1e9 * operations / sample.ns_per_call);
    }
  });
  return rate;
}

}  // namespace

double peak_operations_per_second(DType dtype, int threads) {
  if (!is_floating(dtype)) return 0;
  static std::map<std::pair<bool, int>, double> known;
  double& rate = known[{dtype == DType::fp64, threads}];
  if (rate == 0) rate = measure(dtype == DType::fp64, threads);
  return rate;
}

}  // namespace opbench
