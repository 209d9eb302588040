#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"

namespace opbench {

/// Result of a command.
struct Outcome {
  int code = -1;  // exit code; 128 + the number of the signal that killed it
  std::string out, err;
  std::size_t peak_bytes = 0;  // memory; 0 if it ran in this process
};

struct ProcessOptions {
  std::map<std::string, std::string> environment;  // in addition to that of this process
  std::filesystem::path directory;                 // start directory; "": the current one
  unsigned limit_s = 240;                          // time limit, after which SIGALRM ends it
};

/// A program in a separate process, without input. Its output is stored.
class Process {
 public:
  /// `words`: the program's path, then its arguments.
  explicit Process(std::vector<std::string> words, const ProcessOptions& options = {});
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Waits until `text` is on standard output. Returns false if the process ends without it.
  bool has_printed(const std::string& text) const;
  /// Like has_printed, for standard error.
  bool has_told(const std::string& text) const;
  void send(int signal) const;
  Outcome wait();

 private:
  bool has_written(const char* stream, const std::string& text) const;

  TempDir output_;
  pid_t pid_ = -1;
};

/// Runs the command line in this process with run_cli.
Outcome opbench_with(std::vector<std::string> args);

/// Runs the built opbench in a separate process.
Outcome run_program(std::vector<std::string> args, const ProcessOptions& options = {});

/// Runs a shell command.
Outcome shell(const std::string& command, const ProcessOptions& options = {});

/// True if the command exists.
bool has_command(const std::string& name);

}  // namespace opbench
