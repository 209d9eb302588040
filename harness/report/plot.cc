#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>
#include <string_view>
#include <vector>

#include "harness/report/console.h"
#include "harness/report/text.h"
#include "harness/report/variant_summary.h"
#include "harness/run/record.h"
#include "tensor/utf8.h"

namespace opbench::report {
namespace {

/// A line of a plot.
struct Bar {
  std::string name, text;
  double value = 0;
  bool is_best = false;
};

constexpr std::size_t kLongestName = 28;

// "######//##": the bar is longer than the axis.
std::string cut_bar(std::size_t columns, bool is_unicode) {
  constexpr std::string_view kMark = "//";
  const std::size_t after = 2, before = columns - after - kMark.size();
  return bar_text(1, before, is_unicode) + std::string(kMark) + bar_text(1, after, is_unicode);
}

// A longer axis would make the other bars too short.
constexpr double kAxisEnd = 5;  // times native

// `end`: the end of the axis, at which longer bars are cut; 0: no end.
void print_bars(std::ostream& out, const std::vector<Bar>& bars, const PlotStyle& style,
                double end = 0) {
  if (bars.size() < 2) return;
  double most = 0;
  std::size_t names = 0, texts = 0;
  for (const Bar& bar : bars) {
    most = std::max(most, bar.value);
    names = std::max(names, std::min(kLongestName, utf8_length(bar.name)));
    texts = std::max(texts, utf8_length(bar.text));
  }
  if (end > 0) most = std::min(most, end);
  constexpr std::size_t kGaps = 6, kFewest = 8;
  const std::size_t used = names + texts + kGaps;
  const std::size_t columns = std::max(kFewest, style.width > used ? style.width - used : 0);
  for (const Bar& bar : bars) {
    std::string drawn = bar_text(most > 0 ? bar.value / most : 0, columns, style.is_unicode);
    if (bar.value > most) drawn = cut_bar(columns, style.is_unicode);
    const std::string blank(columns - utf8_length(drawn), ' ');
    out << fmt::format("{} {:<{}}  {}{}  {}\n", bar.is_best ? '*' : ' ', shortened(bar.name, names),
                       names, coloured(drawn, bar.is_best ? kGreen : kDim, style.console), blank,
                       bar.text);
  }
}

}  // namespace

std::string bar_text(double share, std::size_t columns, bool is_unicode) {
  constexpr std::array<std::string_view, 8> kParts = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  if (!(share > 0)) return {};
  const std::size_t steps = is_unicode ? kParts.size() : 1;
  const double exact = std::min(share, 1.0) * static_cast<double>(columns * steps);
  const std::size_t filled = std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(exact)));
  std::string text;
  for (std::size_t i = 0; i < filled / steps; ++i) text += is_unicode ? "█" : "#";
  return is_unicode ? text.append(kParts[filled % steps]) : text;
}

void plot_case(std::ostream& out, std::span<const Record> records, const PlotStyle& style) {
  const TimeUnit unit = unit_for(records);
  std::vector<Bar> bars;
  double native_us = 0;
  for (const Record& record : records) {
    if (!record.is_timed()) continue;
    const double factor =
        record.step ? record.step->speedup_over_first : record.times->speedup_over_native;
    const std::string time = time_text(record.times->median_us, unit);
    const bool has_ratio = factor > 0 || is_disturbed(record);
    bars.push_back({printable(record.variant),
                    has_ratio ? fmt::format("{:>10} {:>7}", time, ratio_text(record, factor))
                              : fmt::format("{:>10}", time),
                    record.times->median_us, record.is_best});
    if (factor > 0 && !record.step) native_us = factor * record.times->median_us;
  }
  print_bars(out, bars, style, kAxisEnd * native_us);
  out.flush();
}

void plot_variants(std::ostream& out, std::span<const Record> records, const PlotStyle& style) {
  std::vector<Bar> bars;
  double most = 0;
  for (const VariantSummary& summary : compare_over_cases(records).variants) {
    const double mean = summary.mean_speedup();
    if (mean == 0) continue;
    most = std::max(most, mean);
    bars.push_back({printable(summary.variant), factor_text(mean), mean, false});
  }
  for (Bar& bar : bars) bar.is_best = bar.value == most;
  if (bars.size() >= 2) out << "\nAgainst native, geometric mean over cases:\n";
  print_bars(out, bars, style);
}

}  // namespace opbench::report
