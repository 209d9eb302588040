#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace opbench {

/// Lines of a file that could not be read: all are counted, the first are told.
class SkippedLines {
 public:
  explicit SkippedLines(std::string file) : file_(std::move(file)) {}

  /// Notes that the line, from 1 on, was left out.
  void add(std::int64_t line, const std::string& reason);

  std::int64_t count() const { return count_; }
  /// "file:line: reason" of the first ones.
  const std::vector<std::string>& examples() const { return examples_; }
  const std::string& file() const { return file_; }

 private:
  std::string file_;
  std::int64_t count_ = 0;
  std::vector<std::string> examples_;
};

}  // namespace opbench
