#include "cli/progress.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <ostream>
#include <utility>

#include "harness/report/text.h"
#include "harness/run/unit_plan.h"
#include "tensor/utf8.h"
#include "text/fitted.h"
#include "workers/dispatch.h"

namespace opbench {

std::string duration_text(double seconds) {
  if (seconds < 120) return fmt::format("{:.3g} s", seconds);
  if (seconds < 120 * 60) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

TimeLeft::TimeLeft(std::vector<double> expected) : expected_(std::move(expected)) {}

std::string TimeLeft::text(std::size_t done, Clock::time_point now) const {
  constexpr std::size_t kFewest = 2;
  constexpr double kLeastSeconds = 2;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  if (done < kFewest || done > expected_.size() || seconds < kLeastSeconds) return {};
  const auto here = expected_.begin() + static_cast<std::ptrdiff_t>(done);
  const double past = std::accumulate(expected_.begin(), here, 0.0);
  const double rest = std::accumulate(here, expected_.end(), 0.0);
  if (!(past > 0)) return {};
  return fmt::format(", about {} left", duration_text(std::ceil(seconds * rest / past)));
}

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
    // Cut to one row of a narrow terminal, so that the next text can overwrite it.
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

void UnitsProgress::begin(const std::vector<std::size_t>& todo, std::size_t done) {
  done_ = done;
  total_ = done + todo.size();
  for (const std::size_t unit : todo) expected_ += units_[unit].seconds;
  shown_ = start_ = Clock::now();
}

void UnitsProgress::begin_unit(std::size_t) { line_.begin(fmt::format("[{}]", text(done_ + 1))); }

void UnitsProgress::show(const DispatchState& state, std::size_t slowest) {
  constexpr auto kBetweenLines = std::chrono::seconds(10);
  const Clock::time_point now = Clock::now();
  slowest_ = slowest;
  slowest_seconds_ = state.slowest_seconds;
  const std::string idle =
      state.workers > 1 ? fmt::format("{} of {} ranks idle", state.idle, state.workers) : "";
  const std::string place = fmt::format("[{}]", text(done_));
  if (now - shown_ >= kBetweenLines) {
    shown_ = now;
    line_.begin(place);
    line_.activity(idle);
  } else {
    line_.begin(place);
    line_.detail(idle);
  }
}

void UnitsProgress::end_unit(std::size_t unit, double seconds) {
  ++done_;
  ++ran_;
  expected_done_ += units_[unit].seconds;
  if (seconds <= slowest_seconds_) return;
  slowest_ = unit;
  slowest_seconds_ = seconds;
}

std::string UnitsProgress::text(std::size_t at) const {
  const std::string text = fmt::format("{}/{}", at, total_);
  if (ran_ == 0) return text;
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  // An earlier rate is not meaningful.
  constexpr double kLeastSeconds = 2;
  if (seconds < kLeastSeconds || expected_done_ <= 0) return text;
  constexpr std::size_t kLongestId = 40;
  return fmt::format("{} {:.3g}/s {} left, slowest {} {}", text,
                     static_cast<double>(ran_) / seconds,
                     duration_text(seconds * (expected_ / expected_done_ - 1)),
                     excerpt(units_[slowest_].id, kLongestId), duration_text(slowest_seconds_));
}

std::string efficiency_text(const Ranks& ranks) {
  return fmt::format("{} ranks, efficiency {:.0f} %: {} of units / ({} ranks x {})", ranks.size(),
                     100 * ranks.efficiency(), duration_text(ranks.work().unit_seconds),
                     ranks.size(), duration_text(ranks.work().wall_seconds));
}

}  // namespace opbench
