#include "harness/check/trend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <ostream>
#include <span>
#include <tuple>

#include "harness/check/speed_verdict.h"
#include "harness/report/change_points.h"
#include "harness/report/text.h"
#include "harness/run/samples.h"
#include "text/cell.h"
#include "text/table.h"

namespace opbench::check {
namespace {

constexpr std::size_t kLeastAfter = 4;  // runs; with fewer no change point can be found

struct Appearance {
  const PastRun* run;
  const PastItem* item;

  bool is_timed() const { return item->current_us > 0; }
};

/// Runs of one case on one machine.
using Series = std::vector<Appearance>;

std::vector<Series> series_of(const History& history) {
  using Key = std::tuple<std::string, std::string, std::string, int, bool, bool>;
  std::map<Key, std::size_t> places;
  std::vector<Series> all;
  for (const PastRun& run : history.runs) {
    for (const PastItem& item : run.items) {
      const Key key{run.machine,  item.key,     item.variant,
                    item.threads, item.is_cold, item.is_first_call};
      const auto [place, is_new] = places.emplace(key, all.size());
      if (is_new) all.emplace_back();
      all[place->second].push_back({&run, &item});
    }
  }
  for (Series& series : all) {
    if (series.size() > kLongestSeries) series.erase(series.begin(), series.end() - kLongestSeries);
  }
  return all;
}

double median_us(std::span<const Appearance> segment) {
  std::vector<double> times;
  for (const Appearance& appearance : segment) times.push_back(appearance.item->current_us);
  return median_of(std::move(times));
}

// Sets the members of `trend` that follow from times. Returns the indices of the change points.
std::vector<std::size_t> measure(const Series& timed, Trend& trend) {
  std::vector<double> logs;
  for (const Appearance& appearance : timed) logs.push_back(std::log(appearance.item->current_us));
  const std::vector<std::size_t> places = change_points(logs);
  std::vector<std::size_t> borders = places;
  borders.insert(borders.begin(), 0);
  borders.push_back(timed.size());
  const std::span<const Appearance> all = timed;
  double before = trend.first_us = median_us(all.first(borders[1]));
  for (std::size_t i = 1; i + 1 < borders.size(); ++i) {
    const double after = median_us(all.subspan(borders[i], borders[i + 1] - borders[i]));
    const PastRun& run = *timed[borders[i]].run;
    trend.steps.push_back({run.date, run.current, after / before - 1});
    before = after;
  }
  trend.last_us = before;
  return places;
}

bool is_change_of_time(const PastItem& item) {
  return !item.is_waived && (item.verdict == "SLOWER" || item.verdict == "FASTER");
}

// Number of errors; runs with errors have no times.
int errors_of(const Series& series) {
  int errors = 0;
  for (std::size_t i = 0; i + kLeastAfter < series.size(); ++i) {
    errors += series[i].item->verdict == "ERROR" && !series[i].item->is_waived;
  }
  return errors;
}

// A change point may be found one run too early or too late if the times scatter.
int flips_of(const Series& timed, const std::vector<std::size_t>& steps) {
  int flips = 0;
  for (std::size_t i = 0; i + kLeastAfter < timed.size(); ++i) {
    const bool is_explained = std::any_of(steps.begin(), steps.end(), [&](std::size_t step) {
      return step + 1 >= i && step <= i + 1;
    });
    flips += is_change_of_time(*timed[i].item) && !is_explained;
  }
  return flips;
}

Trend trend_of(const Series& series) {
  Trend trend;
  trend.machine = series.front().run->machine;
  trend.item = *series.back().item;
  Series timed;
  for (const Appearance& appearance : series) {
    trend.verdicts.push_back(appearance.item->is_waived ? "waived" : appearance.item->verdict);
    if (appearance.is_timed()) timed.push_back(appearance);
  }
  trend.timed = timed.size();
  trend.flips = errors_of(series);
  if (!timed.empty()) trend.flips += flips_of(timed, measure(timed, trend));
  return trend;
}

std::string title_of(const Trend& trend) {
  const PastItem& item = trend.item;
  return fmt::format("{}{} on {}{}, {} thread{}{}", item.is_first_call ? "first call of " : "",
                     item.variant, report::with_short_lists(item.key),
                     item.name.empty() ? "" : fmt::format(" ({})", item.name), item.threads,
                     item.threads == 1 ? "" : "s", item.is_cold ? ", cold" : "");
}

std::string day_of(const std::string& date) { return date.substr(0, 10); }

std::string verdicts_text(const Trend& trend) {
  std::map<std::string, int> counts;
  for (const std::string& verdict : trend.verdicts) ++counts[verdict];
  std::string text;
  for (const auto& [verdict, count] : counts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, verdict);
  }
  return text;
}

std::string steps_text(const Trend& trend) {
  std::string text;
  for (const TimeStep& step : trend.steps) {
    text += fmt::format("{}{} {} at {}", text.empty() ? "" : "; ", day_of(step.date),
                        change_text(step.change), step.revision);
  }
  return text;
}

void write_changes(std::ostream& out, const std::vector<const Trend*>& trends) {
  out << "\n#### Change points\n\n";
  std::vector<std::pair<const Trend*, const TimeStep*>> steps;
  for (const Trend* trend : trends) {
    for (const TimeStep& step : trend->steps) steps.emplace_back(trend, &step);
  }
  if (steps.empty()) {
    out << "none\n";
    return;
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const auto& a, const auto& b) { return a.second->date < b.second->date; });
  TextTable table{columns_of("date|revision|case|>change")};
  for (const auto& [trend, step] : steps) {
    table.rows.push_back(
        {day_of(step->date), step->revision, title_of(*trend), change_text(step->change)});
  }
  write_markdown(out, table);
}

void write_flaky(std::ostream& out, const std::vector<const Trend*>& trends) {
  out << "\n#### Flaky\n\n";
  std::vector<const Trend*> flaky;
  std::copy_if(trends.begin(), trends.end(), std::back_inserter(flaky),
               [](const Trend* trend) { return trend->flips > 0; });
  if (flaky.empty()) {
    out << "none\n";
    return;
  }
  std::stable_sort(flaky.begin(), flaky.end(),
                   [](const Trend* a, const Trend* b) { return a->flips > b->flips; });
  TextTable table{columns_of("case|>verdicts without a change|>runs|verdicts")};
  for (const Trend* trend : flaky) {
    table.rows.push_back({title_of(*trend), std::to_string(trend->flips),
                          std::to_string(trend->verdicts.size()), verdicts_text(*trend)});
  }
  write_markdown(out, table);
}

void write_table(std::ostream& out, const std::vector<const Trend*>& trends) {
  out << "\n#### Trend\n\n";
  TextTable table{columns_of("case|>runs|>first|>last|>change|change points|verdicts")};
  for (const Trend* trend : trends) {
    const bool is_timed = trend->timed > 0;
    table.rows.push_back({title_of(*trend), std::to_string(trend->verdicts.size()),
                          is_timed ? report::time_text(trend->first_us) : "",
                          is_timed ? report::time_text(trend->last_us) : "",
                          is_timed ? change_text(trend->last_us / trend->first_us - 1) : "",
                          steps_text(*trend), verdicts_text(*trend)});
  }
  write_markdown(out, table);
}

std::string span_text(const History& history) {
  const std::string first = day_of(history.runs.front().date);
  if (history.runs.size() == 1) return fmt::format("1 run, of {}", first);
  return fmt::format("{} runs from {} to {}", history.runs.size(), first,
                     day_of(history.runs.back().date));
}

}  // namespace

std::vector<Trend> trends_of(const History& history) {
  std::vector<Trend> trends;
  for (const Series& series : series_of(history)) trends.push_back(trend_of(series));
  return trends;
}

void write_trends(std::ostream& out, const History& history) {
  const std::vector<Trend> trends = trends_of(history);
  out << fmt::format("### opbench: {}\n", markdown_escaped(span_text(history)));
  for (const std::string& notice : history.notices)
    out << "\n> " << markdown_escaped(notice) << '\n';
  std::vector<std::string> machines;
  for (const PastRun& run : history.runs) {
    if (std::find(machines.begin(), machines.end(), run.machine) == machines.end()) {
      machines.push_back(run.machine);
    }
  }
  for (const std::string& machine : machines) {
    std::vector<const Trend*> here;
    for (const Trend& trend : trends) {
      if (trend.machine == machine) here.push_back(&trend);
    }
    out << "\n**Machine**: " << markdown_escaped(machine) << '\n';
    write_changes(out, here);
    write_flaky(out, here);
    write_table(out, here);
  }
}

}  // namespace opbench::check
