#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "profiles/byte_window.h"
#include "profiles/skipped_lines.h"

namespace opbench {

/// Lines that are longer are skipped.
inline constexpr std::size_t kLongestLine = std::size_t{1} << 20;

/// The lines of a log in one pass, without CR and LF.
class LineReader {
 public:
  LineReader(ByteWindow window, std::string file)
      : window_(std::move(window)), skipped_(std::move(file)) {}

  /// The next line, empty ones too. Returns false at the end.
  bool next();
  /// Valid until `next`.
  std::string_view text() const { return text_; }
  /// From 1 on.
  std::int64_t line() const { return line_; }
  void skip(const std::string& reason) { skipped_.add(line_, reason); }
  const SkippedLines& skipped() const { return skipped_; }

 private:
  void skip_rest();

  ByteWindow window_;
  SkippedLines skipped_;
  std::string_view text_;
  std::size_t consumed_ = 0, looked_at_ = 0;
  std::int64_t line_ = 0;
};

}  // namespace opbench
