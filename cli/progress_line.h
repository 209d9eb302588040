#pragma once

#include <cstddef>
#include <string>

#include "cli/command.h"

namespace opbench {

/// The line on the terminal that tells what is being done; plain lines, one a part, elsewhere.
class ProgressLine {
 public:
  explicit ProgressLine(const CommandContext& context) : context_(context) {}

  /// Begins part `done` + 1 of `total`; `time_left`: ", about 6 min left".
  void begin(std::size_t done, std::size_t total, const std::string& time_left = "");
  /// Begins a part that is called `place`.
  void begin(const std::string& place);
  /// What the part does now. A line that is overwritten shows every one, plain lines the first of a
  /// part, or `brief` in its place.
  void activity(const std::string& whole, const std::string& brief = "");
  /// Only where the line is overwritten.
  void detail(const std::string& whole);
  void clear();

 private:
  const CommandContext& context_;
  std::string place_;
  bool is_new_ = false;
};

}  // namespace opbench
