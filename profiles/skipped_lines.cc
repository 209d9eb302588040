#include "profiles/skipped_lines.h"

#include <fmt/format.h>

namespace opbench {

void SkippedLines::add(std::int64_t line, const std::string& reason) {
  constexpr std::size_t kExamples = 5;
  ++count_;
  if (examples_.size() < kExamples) {
    examples_.push_back(fmt::format("{}:{}: {}", file_, line, reason));
  }
}

}  // namespace opbench
