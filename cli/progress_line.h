#pragma once

#include <cstddef>
#include <string>

#include "cli/command.h"

namespace opbench {

/// The line on the terminal that tells what is being done; plain lines, one a step, elsewhere.
class ProgressLine {
 public:
  explicit ProgressLine(const CommandContext& context) : context_(context) {}

  /// Begins step `done` + 1 of `total`.
  void step(std::size_t done, std::size_t total);
  /// Begins a step that is called `place`.
  void step(const std::string& place);
  /// What the step does now. A line that is overwritten shows every one, plain lines the first of a
  /// step.
  void activity(const std::string& whole);
  /// Only where the line is overwritten.
  void detail(const std::string& whole);
  void clear();

 private:
  const CommandContext& context_;
  std::string place_;
  bool is_new_ = false;
};

}  // namespace opbench
