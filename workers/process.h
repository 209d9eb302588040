#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tensor/error.h"
#include "workers/child.h"

namespace opbench {

/// A child ended, or was killed because it did not answer. The message states how.
struct ChildLost : RunError {
  explicit ChildLost(const std::string& message, std::string how_it_ended = {},
                     bool is_late = false)
      : RunError(message),
        how(how_it_ended.empty() ? message : std::move(how_it_ended)),
        was_late(is_late) {}

  std::string how;  ///< reason without the program: "was ended by signal 11 (Segmentation fault)"
  bool was_late;    ///< it was killed because it did not answer in time
};

/// Time limit for an answer. Time in which this program did not run does not count, for example if
/// Slurm or a terminal suspended it and its child.
class Patience {
 public:
  explicit Patience(double seconds) : seconds_(seconds) {}
  double seconds() const { return seconds_; }
  /// Returns the remaining seconds. Must be called several times a second.
  double left();
  /// Excludes the time since the last call.
  void skip() { last_ = std::chrono::steady_clock::now(); }

 private:
  double seconds_, spent_ = 0;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// A program with pipes to its standard input and output, used line by line. It is in a separate
/// process group, so Ctrl-C at the terminal does not reach it. The destructor kills it and all
/// processes that it started. It does not outlive this process.
class ChildProcess {
 public:
  /// Starts `argv`, in `directory` unless that is empty. A name without '/' is searched in PATH.
  /// The program gets `shared`, a descriptor of this process, as descriptor 3 unless it is -1.
  /// Errors: throws Error "cannot start ...".
  explicit ChildProcess(std::vector<std::string> argv, const std::string& directory = {},
                        int shared = -1);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  /// Errors: throws ChildLost, after killing it, if it ends or does not read within `seconds`;
  /// RunError if this program is interrupted.
  void write_line(const std::string& line, double seconds);

  /// Returns the next line without its end. Errors: as for `write_line`; also ChildLost for a line
  /// that exceeds `most_bytes`.
  std::string read_line(Patience& patience, std::size_t most_bytes = std::size_t{64} << 20);
  std::string read_line(double seconds, std::size_t most_bytes = std::size_t{64} << 20) {
    Patience patience(seconds);
    return read_line(patience, most_bytes);
  }

  /// Errors: throws ChildLost, after killing it, if it wrote unrequested output.
  void refuse_unasked();

  /// Closes its standard input and waits for its end. Returns a description of the problem, with
  /// the program's name; empty for exit code 0 within `seconds` without further output.
  std::string finish(double seconds);

 private:
  /// Waits until `file` can be read (or written), and stores the child's standard error.
  void wait_for(int file, short events, Patience& patience);
  void take_errors();
  bool take_output();
  [[noreturn]] void fail_ended();
  /// Kills it and all processes that it started. Returns its wait status.
  int end();
  void close_all();

  std::string program_;
  std::optional<Child> child_;  ///< empty once it has ended
  int input_ = -1, output_ = -1, errors_ = -1;
  std::string pending_;      ///< bytes read but not yet returned
  std::string last_errors_;  ///< end of its standard error
};

}  // namespace opbench
