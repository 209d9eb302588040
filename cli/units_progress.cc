#include "cli/units_progress.h"

#include <fmt/format.h>

#include "cli/time_left.h"
#include "text/excerpt.h"

namespace opbench {

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
  // Before that a rate says little.
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
