#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tensor/error.h"
#include "workers/child.h"

namespace opbench {

/// A child that is gone, or had to be ended because it did not answer. The message says how.
struct ChildLost : RunError {
  explicit ChildLost(const std::string& message, std::string how_it_ended = {},
                     bool is_late = false)
      : RunError(message),
        how(how_it_ended.empty() ? message : std::move(how_it_ended)),
        was_late(is_late) {}

  std::string how;  ///< without the program: "was ended by signal 11 (Segmentation fault)"
  bool was_late;    ///< it did not answer in time and was ended for it
};

/// How long an answer is waited for. Time in which this program did not run does not count: one
/// that is suspended, by Slurm or a terminal, and its child with it, has to find it as it was.
class Patience {
 public:
  explicit Patience(double seconds) : seconds_(seconds) {}
  double seconds() const { return seconds_; }
  /// Seconds that are left; to be asked several times a second.
  double left();
  /// Time since it was last asked does not count.
  void skip() { last_ = std::chrono::steady_clock::now(); }

 private:
  double seconds_, spent_ = 0;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// A program with pipes to its standard input and output, spoken to line by line. It is in a
/// process group of its own (Ctrl-C at the terminal does not reach it), is killed with all that it
/// started when this object goes, and does not outlive this process.
class ChildProcess {
 public:
  /// Starts `argv`, in `directory` if that is not empty; a name without '/' is looked up in PATH.
  /// Errors: throws Error "cannot start ...".
  explicit ChildProcess(std::vector<std::string> argv, const std::string& directory = {});
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  /// Errors: throws ChildLost if it ends or does not read within `seconds`, and is killed then;
  /// RunError if this program is interrupted.
  void write_line(const std::string& line, double seconds);

  /// The next line without its end. Errors: as `write_line`; ChildLost as well for a line that does
  /// not end within `most_bytes`.
  std::string read_line(Patience& patience, std::size_t most_bytes = std::size_t{64} << 20);
  std::string read_line(double seconds, std::size_t most_bytes = std::size_t{64} << 20) {
    Patience patience(seconds);
    return read_line(patience, most_bytes);
  }

  /// Errors: throws ChildLost if it has written what was not asked for, and is killed then.
  void refuse_unasked();

  /// Closes its standard input and waits for its end. Returns what is wrong with that, with the
  /// program's name; empty: exit code 0 within `seconds`, and nothing more was written.
  std::string finish(double seconds);

 private:
  /// Waits until `file` can be read (or written), keeping what the child writes to standard error.
  void wait_for(int file, short events, Patience& patience);
  void take_errors();
  bool take_output();
  [[noreturn]] void fail_ended();
  /// Ends it with all that it started; returns its wait status.
  int end();
  void close_all();

  std::string program_;
  std::optional<Child> child_;  ///< none once it has ended
  int input_ = -1, output_ = -1, errors_ = -1;
  std::string pending_;      ///< read, not yet taken
  std::string last_errors_;  ///< the end of what it wrote to standard error
};

}  // namespace opbench
