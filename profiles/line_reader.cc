#include "profiles/line_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace opbench {

// The window holds the beginning of a line without an end.
void LineReader::skip_rest() {
  skip(fmt::format("a line longer than {} MiB", kLongestLine >> 20));
  do {
    const auto text = window_.text();
    const void* end = std::memchr(text.data(), '\n', text.size());
    if (end != nullptr) {
      window_.consume(static_cast<const char*>(end) - text.data() + 1);
      return;
    }
    window_.consume(text.size());
  } while (window_.more());
}

bool LineReader::next() {
  window_.consume(consumed_);
  consumed_ = looked_at_ = 0;
  ++line_;
  while (true) {
    const std::string_view all(window_.text().data(), window_.text().size());
    const std::size_t end = all.find('\n', looked_at_);
    if (end != std::string_view::npos || window_.is_at_end()) {
      if (all.empty()) return false;
      text_ = all.substr(0, end);
      consumed_ = std::min(text_.size() + 1, all.size());
      if (text_.ends_with('\r')) text_.remove_suffix(1);
      return true;
    }
    looked_at_ = all.size();
    if (looked_at_ <= kLongestLine) {
      window_.more();
      continue;
    }
    skip_rest();
    looked_at_ = 0;
    ++line_;
  }
}

}  // namespace opbench
