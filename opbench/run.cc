#include "opbench/run.h"

#include <csignal>
#include <iostream>

#include "cli/cli.h"
#include "harness/run/copy_rate.h"
#include "tensor/error.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

void require_sensible(const FunctionOptions& options) {
  if (options.repetitions < 1) throw Error("time_function: repetitions must be at least 1");
  if (options.threads < 0) throw Error("time_function: threads must not be negative");
  if (!(options.seconds > 0)) throw Error("time_function: seconds must be above 0");
}

}  // namespace

int run_program(int argc, const char* const* argv) {
  // A reader that goes away (| head) or a file size limit is an error to report, not the end.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  return run_cli({argv + 1, argv + argc}, std::cout, std::cerr);
}

FunctionTiming time_function(const std::function<void()>& function,
                             const FunctionOptions& options) {
  require_sensible(options);
  const int threads = options.threads == 0 ? available_cores() : options.threads;
  const TimingOptions timing{options.seconds, options.repetitions, {}};
  std::vector<Sample> samples;
  with_threads(threads, [&] { samples = time_calls("function", timing, function); });
  if (samples.empty()) throw RunError("time_function: interrupted");
  FunctionTiming result;
  for (const Sample& sample : samples) result.samples_us.push_back(sample.ns_per_call / 1e3);
  const Spread spread = spread_of(result.samples_us);
  result.median_us = spread.median;
  result.mad_us = spread.mad;
  result.min_us = spread.min;
  if (options.bytes == 0) return result;
  result.gb_per_s = static_cast<double>(options.bytes) / (1e3 * spread.median);
  result.copy_gb_per_s = measure_copy_rate(options.bytes, threads, timing, false).median / 1e9;
  if (result.copy_gb_per_s == 0) throw RunError("time_function: interrupted");
  result.copy_share = result.gb_per_s / result.copy_gb_per_s;
  return result;
}

}  // namespace opbench
