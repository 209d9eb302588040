#include "harness/report/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <vector>

#include "harness/run/record.h"
#include "text/fitted.h"

namespace opbench::report {
namespace {

// The limit of `opbench doctor`: beyond it, chance can explain a regression of a few percent.
constexpr double kLargestSpread = 0.10;
constexpr double kLargestLoad = 0.5;
// The best of nine copies is a few percent faster than their median on a quiet machine.
constexpr double kLargestCopySpread = 0.25;

std::int64_t samples_of(const Times& times) {
  return static_cast<std::int64_t>(times.samples.size());
}

// True if all samples of some milliseconds lost their core, more often than housekeeping takes it.
// Such calls wait for a thread every time: their times are equal, but much too long.
bool is_often_preempted(const Times& times, std::int64_t count) {
  constexpr double kPerSecond = 50, kLeastSampleUs = 1000;
  double us = 0;
  for (const Sample& sample : times.samples) {
    // Files of JSON have no durations.
    us += sample.duration_us > 0
              ? sample.duration_us
              : static_cast<double>(sample.iterations) * sample.ns_per_call * 1e-3;
  }
  return us >= kLeastSampleUs * static_cast<double>(samples_of(times)) &&
         static_cast<double>(count) >= kPerSecond * us * 1e-6;
}

// True if other programs took cores. Housekeeping of the system takes a core for some microseconds.
// It counts only in large numbers, or in every sample if it also affects the times or is frequent.
bool is_preempted(const Times& times) {
  constexpr std::int64_t kCrowd = 10;
  constexpr double kShownSpread = 0.05;
  const std::int64_t count = times.preemptions.value_or(0);
  if (count >= kCrowd * samples_of(times)) return true;
  return count >= samples_of(times) &&
         (relative_spread(times) > kShownSpread || is_often_preempted(times, count));
}

// The number of samples longer than 1.5 times the median.
std::int64_t outliers_of(const Times& times) {
  return std::count_if(times.samples.begin(), times.samples.end(), [&](const Sample& sample) {
    return sample.ns_per_call > 1.5e3 * times.median_us;
  });
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

// True if cores were taken away, times differ, or there are outliers.
bool is_noisy(const Times& times) {
  return is_preempted(times) || relative_spread(times) > kLargestSpread || outliers_of(times) > 0;
}

constexpr std::size_t kMostEntries = 8, kShownEntries = 3;

bool is_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '.' ||
         letter == ':' || letter == '+' || letter == '-';
}

// True for a whole number or a shape, but not for words that begin like one ("116:int32", "1.5").
bool is_entry(std::string_view word) {
  if (word.empty()) return false;
  const std::size_t first = word.front() == '-' ? 1 : 0;
  return first < word.size() && std::isdigit(static_cast<unsigned char>(word[first])) != 0 &&
         std::all_of(word.begin() + static_cast<std::ptrdiff_t>(first), word.end(), [](char c) {
           return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == 'x';
         });
}

std::string_view word_at(std::string_view text, std::size_t begin) {
  std::size_t end = begin;
  while (end < text.size() && is_word(text[end])) ++end;
  return text.substr(begin, end - begin);
}

/// Entries in a row with commas between them.
struct List {
  std::size_t entries = 0, bytes = 0;
  std::size_t shown_bytes = 0;  ///< of the first entries, with the comma after them
};

List list_at(std::string_view text, std::size_t begin) {
  List list;
  std::size_t place = begin;
  while (true) {
    const std::string_view word = word_at(text, place);
    if (!is_entry(word)) return list;
    ++list.entries;
    place += word.size();
    list.bytes = place - begin;
    if (list.entries == kShownEntries) list.shown_bytes = list.bytes + 1;
    if (place == text.size() || text[place] != ',') return list;
    ++place;
  }
}

}  // namespace

std::string disturbance_text(const Record& record) {
  if (!record.times) return {};
  std::vector<std::string> signs;
  const std::int64_t outliers = outliers_of(*record.times);
  if (is_disturbed(record)) signs.emplace_back("disturbed");
  if (is_preempted(*record.times)) {
    signs.push_back(fmt::format("preempted {} times", *record.times->preemptions));
  }
  if (const std::int64_t throttled = record.times->throttled(); throttled > 0) {
    const std::string& why = record.times->throttled_by;
    signs.push_back(fmt::format("throttled {} of {}{}", throttled, samples_of(*record.times),
                                why.empty() ? "" : " by " + why));
  }
  if (outliers > 0) {
    signs.push_back(fmt::format("outliers {} of {}", outliers, samples_of(*record.times)));
  }
  return fmt::format("{}", fmt::join(signs, ", "));
}

std::string disturbance_text(const RunResult& result) {
  std::int64_t timed = 0, noisy = 0, disturbed = 0, preemptions = 0;
  double spread = 0, copy = 0;
  for (const Record& record : result.records) {
    copy = std::max(copy, record.copy_spread);
    if (!record.times) continue;
    ++timed;
    noisy += is_noisy(*record.times) || is_disturbed(record);
    disturbed += is_disturbed(record);
    preemptions += record.times->preemptions.value_or(0);
    spread = std::max(spread, relative_spread(*record.times));
  }
  std::vector<std::string> signs;
  if (result.load > kLargestLoad) {
    signs.push_back(fmt::format("load {:.1f} when it began", result.load));
  }
  if (noisy > 0) {
    signs.push_back(
        fmt::format("{} of {} results noisy{}, {} preemptions, spread up to {}", noisy, timed,
                    disturbed > 0 ? fmt::format(" ({} disturbed: no ratio)", disturbed) : "",
                    preemptions, percent(spread)));
  }
  if (copy > kLargestCopySpread) {
    signs.push_back(fmt::format("copies of the same bytes differ by {}", percent(copy)));
  }
  if (signs.empty()) return {};
  return fmt::format("This machine was busy: {}. Trust ratios more than times; see opbench doctor.",
                     fmt::join(signs, "; "));
}

TimeUnit unit_for(double shortest_us) {
  if (shortest_us < 1e3) return {"us", 1, 2};
  if (shortest_us < 1e6) return {"ms", 1e3, 3};
  return {"s ", 1e6, 3};
}

TimeUnit unit_for(std::span<const Record> records) {
  double shortest = std::numeric_limits<double>::infinity();
  for (const Record& record : records) {
    if (record.times) shortest = std::min(shortest, record.times->median_us);
  }
  return unit_for(std::isinf(shortest) ? 0 : shortest);
}

std::string time_text(double us) { return time_text(us, unit_for(us)); }

std::string time_text(double us, const TimeUnit& unit) {
  return fmt::format("{:.{}f} {}", us / unit.us, unit.decimals, unit.name);
}

double relative_spread(const Times& times) {
  return times.median_us > 0 ? times.mad_us / times.median_us : 0;
}

double relative_error(const Times& times) {
  return error_of_median(relative_spread(times), times.samples.size());
}

std::string spread_text(const Record& record) {
  if (!record.times || record.times->median_us <= 0) return "-";
  return fmt::format("{:.0f} %", 100 * relative_spread(*record.times));
}

std::string noise_text(const Record& record) {
  if (!record.times || record.times->noise_limit_percent <= 0) return {};
  const Times& times = *record.times;
  const double noise = times.noise_percent(), limit = times.noise_limit_percent;
  const std::string samples = counted(times.samples.size(), "sample");
  if (!std::isfinite(noise)) return fmt::format("noise unknown after {}", samples);
  if (noise <= limit) return fmt::format("noise {:.2g} %, {}", noise, samples);
  return fmt::format("noise {:.2g} % after {}, above {:g} %", noise, samples, limit);
}

double percent_of_ceiling(const Record& record) {
  if (!record.times) return 0;
  return record.bound == Bound::unknown ? record.times->percent_of_copy
                                        : record.times->percent_of_roofline;
}

std::string roofline_text(const Record& record) {
  const double percent = percent_of_ceiling(record);
  if (!(percent > 0)) return "-";
  if (record.bound == Bound::unknown) return fmt::format("{:.0f} %", percent);
  return fmt::format("{:.0f} % {}", percent, name(record.bound));
}

std::string inside_text(const Record& record) {
  if (!record.accuracy) return "-";
  return fmt::format("{} %", std::floor(1e4 * record.accuracy->inside_share) / 100);
}

std::string ulp_text(const Record& record) {
  if (!record.accuracy) return "-";
  if (record.accuracy->max_ulp < 1e5) return fmt::format("{:.0f}", record.accuracy->max_ulp);
  return fmt::format("{:.0e}", record.accuracy->max_ulp);
}

std::string factor_text(double factor) {
  return factor > 0 ? fmt::format("{:.2f}x", factor) : std::string("-");
}

std::string ratio_text(const Record& record, double factor) {
  return is_disturbed(record) ? "disturbed" : factor_text(factor);
}

std::string status_text(const Record& record) {
  std::string text(name(record.status));
  if (record.status == Status::failed || record.status == Status::errored) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  }
  return text;
}

std::string name_text(const Record& record) {
  return record.case_name.empty() ? std::string()
                                  : fmt::format("{} x{}", record.case_name, record.count);
}

std::string with_short_lists(std::string_view text, std::size_t longest) {
  std::string result;
  std::size_t place = 0;
  while (place < text.size()) {
    const List list = list_at(text, place);
    const std::string_view whole = text.substr(place, list.bytes);
    if (list.entries > kMostEntries || (list.entries > kShownEntries && list.bytes > longest)) {
      const bool has_shapes = whole.find('x') != std::string_view::npos;
      result += fmt::format("{}... {} {}", whole.substr(0, list.shown_bytes), list.entries,
                            has_shapes ? "shapes" : "numbers");
    } else {
      result += whole;
    }
    place += list.bytes;
    const std::size_t word = word_at(text, place).size();
    const std::size_t rest = std::min(text.size() - place, std::max<std::size_t>(1, word));
    result += text.substr(place, rest);
    place += rest;
  }
  return result;
}

}  // namespace opbench::report
