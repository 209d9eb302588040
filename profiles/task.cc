#include "profiles/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace opbench {
namespace {

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

std::optional<Decimal> parse_scientific(std::string_view text, int scale) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  const double units = value * std::pow(10.0, scale);
  constexpr double kMost = 9.0e18;
  if (status != std::errc{} || end != text.data() + text.size() || !(std::abs(units) < kMost)) {
    return std::nullopt;
  }
  return Decimal{std::llround(units), scale};
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(separator, start), text.size());
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

std::optional<Decimal> parse_decimal(std::string_view text, int scale) {
  constexpr std::int64_t kMost = INT64_MAX / 10 - 1;
  const std::string_view whole_text = text;
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  std::int64_t units = 0;
  int behind = 0, digits = 0;
  bool is_behind_point = false, rounds_up = false;
  for (const char letter : text) {
    if (letter == '.' && !is_behind_point) {
      is_behind_point = true;
      continue;
    }
    if (!is_digit(letter)) return parse_scientific(whole_text, scale);
    ++digits;
    if (is_behind_point && ++behind > scale) {
      if (behind == scale + 1) rounds_up = letter >= '5';
      continue;
    }
    if (units > kMost) return std::nullopt;
    units = units * 10 + (letter - '0');
  }
  if (digits == 0) return std::nullopt;
  for (int i = behind; i < scale; ++i) {
    if (units > kMost) return std::nullopt;
    units *= 10;
  }
  units += rounds_up ? 1 : 0;
  return Decimal{is_negative ? -units : units, behind};
}

std::string us_text(std::int64_t picoseconds) { return fmt::format("{:.3f}", in_us(picoseconds)); }

std::string_view short_kernel_name(std::string_view name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  int depth = 0;  // of template arguments; the return type may have some, too
  std::size_t begin = 0, end = name.size();
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name.substr(i).starts_with(kAnonymous)) {
      i += kAnonymous.size() - 1;
    } else if (name[i] == '<') {
      ++depth;
    } else if (name[i] == '>') {
      --depth;
    } else if (depth == 0 && name[i] == '(') {
      end = i;
      break;
    } else if (depth == 0 && name[i] == ' ') {
      begin = i + 1;
    }
  }
  const std::string_view whole = name.substr(begin, end - begin);
  const std::string_view shorter = whole.substr(0, whole.find('<'));
  return shorter.empty() ? name : shorter;
}

void StepTasks::add(const DeviceTask& task, bool is_communication) {
  if (!task.start_ns || task.count != 1) return;
  if (!first_.is_begun) {
    file_ = task.file;
    device_ = task.device;
    first_.step = task.step;
    first_.is_begun = true;
  }
  if (task.file != file_ || task.device != device_) return;
  Step* step = task.step == first_.step ? &first_ : &second_;
  if (!step->is_begun) {
    step->step = task.step;
    step->is_begun = true;
  }
  if (task.step != step->step) return;
  if (step->tasks.size() == kMost) {
    ++step->left_out;
    return;
  }
  step->tasks.push_back({std::string(task.name), std::string(task.type), std::string(task.stream),
                         *task.start_ns, task.duration_ps, is_communication, 0});
}

std::vector<StepTask> StepTasks::tasks() const {
  std::vector<StepTask> sorted = chosen().tasks;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const StepTask& a, const StepTask& b) { return a.start_ns < b.start_ns; });
  if (sorted.empty()) return sorted;
  // Unsigned, since start times of damaged tables can differ by up to 64 bits.
  const auto begin = static_cast<std::uint64_t>(sorted.front().start_ns);
  for (StepTask& task : sorted) {
    task.start_us = double(static_cast<std::uint64_t>(task.start_ns) - begin) / 1e3;
  }
  return sorted;
}

}  // namespace opbench
