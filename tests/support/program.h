#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"

namespace opbench {

/// What a command did.
struct Outcome {
  int code = -1;  // of its end; 128 + the signal that killed it
  std::string out, err;
  std::size_t peak_bytes = 0;  // of memory; 0 where it ran in this process
};

struct ProcessOptions {
  std::map<std::string, std::string> environment;  // besides that of this process
  std::filesystem::path directory;                 // where it starts; "" for the current one
  unsigned limit_s = 240;                          // after which SIGALRM ends it
};

/// A program in a process of its own, with no input and its output kept.
class Process {
 public:
  /// `words`: the program's path, then its arguments.
  explicit Process(std::vector<std::string> words, const ProcessOptions& options = {});
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Waits until it has printed `text` on standard output. False if it never will.
  bool has_printed(const std::string& text) const;
  /// As has_printed, on standard error.
  bool has_told(const std::string& text) const;
  void send(int signal) const;
  Outcome wait();

 private:
  bool has_written(const char* stream, const std::string& text) const;

  TempDir output_;
  pid_t pid_ = -1;
};

/// The command line in this process, through run_cli.
Outcome opbench_with(std::vector<std::string> args);

/// The built opbench in a process of its own.
Outcome run_program(std::vector<std::string> args, const ProcessOptions& options = {});

/// A shell command.
Outcome shell(const std::string& command, const ProcessOptions& options = {});

/// Is there a command of this name?
bool has_command(const std::string& name);

}  // namespace opbench
