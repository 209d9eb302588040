#include "opbench/run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>

#include "cli/cli.h"
#include "harness/run/crash_message.h"
#include "harness/run/machine_rates.h"
#include "opbench/waiting_threads.h"
#include "tensor/error.h"
#include "tensor/parallel.h"
#include "text/program.h"
#include "workers/ranks.h"

namespace opbench {
namespace {

void require_sensible(const FunctionOptions& options) {
  if (options.repetitions < 1) throw Error("time_function: repetitions must be at least 1");
  if (options.threads < 0) throw Error("time_function: threads must not be negative");
  if (!(options.seconds > 0)) throw Error("time_function: seconds must be above 0");
}

// Opens /dev/null for closed standard streams. Otherwise the next opened file gets the number of
// the stream, and the output is written into that file.
void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0) continue;
    if (open("/dev/null", O_RDWR) != stream) {
      throw RunError(
          fmt::format("file descriptor {} is closed, and /dev/null cannot be opened in "
                      "its place",
                      stream));
    }
  }
}

// Raises a low limit of open files: at the limit some libraries end the process without a message.
void require_open_files() {
  constexpr rlim_t kNeeded = 32;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kNeeded) return;
  if (limit.rlim_max < kNeeded) {
    throw RunError(fmt::format("{} files may be open at once (ulimit -n), at least {} are needed",
                               limit.rlim_max, kNeeded));
  }
  limit.rlim_cur = kNeeded;
  setrlimit(RLIMIT_NOFILE, &limit);
}

void prepare_process() {
  // A closed pipe (| head) or a file size limit must not end the program before it has saved its
  // files.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  open_standard_streams();
  require_open_files();
  report_crashes();
}

// Earlier lines are progress.
std::string last_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

// Ranks other than rank 0 print nothing: rank 0 reports their last line.
int run_as_rank(const std::vector<std::string>& args, Ranks& ranks) {
  if (ranks.is_first()) return ranks.finish(run_cli(args, std::cout, std::cerr, ranks), "");
  std::ostringstream out, err;
  const int code = run_cli(args, out, err, ranks);
  return ranks.finish(code, last_line(err.str()));
}

}  // namespace

int run_program(int argc, const char* const* argv) {
  limit_spinning(argv);
  if (argc > 0) set_program_name(argv[0]);
  std::optional<Ranks> ranks;
  try {
    prepare_process();
    ranks.emplace(start_ranks());
  } catch (const RunError& error) {
    std::cerr << program_name() << ": " << error.what() << '\n';
    return kCouldNotFinish;
  } catch (const Error& error) {
    std::cerr << program_name() << ": " << error.what() << '\n';
    return kBadInput;
  }
  const int code = run_as_rank({argv + 1, argv + argc}, *ranks);
  if (code == kReaderGone) {  // like other programs that write to a closed pipe
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
  }
  return code;
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
  result.copy_gb_per_s = measure_copy_rate({options.bytes / 2, options.bytes - options.bytes / 2},
                                           threads, timing, false)
                             .best /
                         1e9;
  if (result.copy_gb_per_s == 0) throw RunError("time_function: interrupted");
  result.copy_share = result.gb_per_s / result.copy_gb_per_s;
  return result;
}

}  // namespace opbench
