#include "cli/progress_line.h"

#include <fmt/format.h>

#include <ostream>

#include "harness/report/text.h"
#include "tensor/printable.h"
#include "text/excerpt.h"

namespace opbench {

void ProgressLine::begin(std::size_t done, std::size_t total, const std::string& time_left) {
  begin(fmt::format("[{}/{}{}]", done + 1, total, time_left));
}

void ProgressLine::begin(const std::string& place) {
  place_ = place;
  is_new_ = true;
}

void ProgressLine::activity(const std::string& whole, const std::string& brief) {
  if (context_.quiet) return;
  constexpr std::size_t kLongest = 1000;
  const auto shown = [](const std::string& text) {
    return printable(excerpt(report::with_short_lists(text), kLongest));
  };
  if (context_.is_progress_overwritten()) {
    // One row of a narrow terminal, so that the next text can overwrite it.
    context_.err << "\r\033[K" << (place_ + " " + shown(whole)).substr(0, context_.progress_width())
                 << std::flush;
  } else if (is_new_ || context_.verbose) {
    const bool is_whole = context_.verbose || brief.empty();
    context_.err << place_ << ' ' << shown(is_whole ? whole : brief) << '\n';
  }
  is_new_ = false;
}

void ProgressLine::detail(const std::string& whole) {
  if (!context_.quiet && context_.is_progress_overwritten()) activity(whole);
}

void ProgressLine::clear() {
  if (!context_.quiet && context_.is_progress_overwritten())
    context_.err << "\r\033[K" << std::flush;
}

}  // namespace opbench
