#include "harness/check/waivers.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

#include "harness/check/speed_verdict.h"
#include "text/input_file.h"
#include "text/name_pattern.h"
#include "text/yaml_reader.h"

namespace opbench::check {
namespace {

constexpr double kMostPercent = 1000, kMostFactor = 1e6;
constexpr std::size_t kMostWaivers = 1000;  // each is compared with every result

std::string filled_text(const YamlValue& value, const std::string& what) {
  std::string text = value.text(what);
  if (text.empty()) value.fail(what + " is empty");
  return text;
}

bool is_date(const std::string& text) {
  constexpr std::string_view kForm = "0000-00-00";
  const auto fits = [](char letter, char form) {
    return form == '0' ? letter >= '0' && letter <= '9' : letter == form;
  };
  if (!std::equal(text.begin(), text.end(), kForm.begin(), kForm.end(), fits)) return false;
  const auto number = [&](std::size_t at, std::size_t digits) {
    return std::stoi(text.substr(at, digits));
  };
  return std::chrono::year_month_day(std::chrono::year(number(0, 4)),
                                     std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                     std::chrono::day(static_cast<unsigned>(number(8, 2))))
      .ok();
}

// The date as text, which sorts in the order of days.
std::string date_of(const YamlValue& value) {
  const std::string text = value.text("expires");
  if (!is_date(text))
    value.fail(fmt::format("expires is '{}'; it must be a day: 2026-12-31", text));
  return text;
}

void read_allowance(const YamlValue& value, Waiver& waiver) {
  value.mapping("allow", {"slower", "error", "gone"},
                [&](const std::string& key, const YamlValue& allowed) {
                  if (key == "slower") {
                    waiver.slower_percent = allowed.number("slower, percent", 0.1, kMostPercent);
                  } else if (key == "error") {
                    waiver.error_factor = allowed.number("error, a factor", 1, kMostFactor);
                  } else {
                    waiver.allows_gone = allowed.boolean("gone");
                  }
                });
  if (!waiver.slower_percent && !waiver.error_factor && !waiver.allows_gone) {
    value.fail("allow allows nothing; it needs slower: PERCENT, error: FACTOR or gone: true");
  }
}

void read_key(const std::string& key, const YamlValue& value, Waiver& waiver) {
  if (key == "id") {
    waiver.pattern = filled_text(value, "id");
    waiver.matches = value.located([&] { return name_pattern(waiver.pattern, "id"); });
  } else if (key == "variant") {
    waiver.variant = filled_text(value, "variant");
  } else if (key == "reason") {
    waiver.reason = filled_text(value, "reason");
  } else if (key == "expires") {
    waiver.expires = date_of(value);
  } else {
    read_allowance(value, waiver);
  }
}

Waiver read_waiver(const YamlValue& value) {
  Waiver waiver;
  waiver.place = value.place();
  bool is_allowance_there = false;
  value.mapping("a waiver", {"id", "variant", "reason", "expires", "allow"},
                [&](const std::string& key, const YamlValue& part) {
                  is_allowance_there |= key == "allow";
                  read_key(key, part, waiver);
                });
  const std::pair<bool, const char*> kNeeded[] = {{!waiver.pattern.empty(), "id"},
                                                  {!waiver.reason.empty(), "reason"},
                                                  {!waiver.expires.empty(), "expires"},
                                                  {is_allowance_there, "allow"}};
  for (const auto& [is_there, key] : kNeeded) {
    if (!is_there) value.fail(fmt::format("a waiver has no '{}'", key));
  }
  return waiver;
}

}  // namespace

std::vector<Waiver> parse_waivers(const std::string& text, const std::string& path) {
  std::vector<Waiver> waivers;
  parse_yaml(text, path)
      .mapping("the file", {"waivers"}, [&](const std::string&, const YamlValue& list) {
        const std::vector<YamlValue> values = list.list("waivers");
        if (values.size() > kMostWaivers) {
          list.fail(fmt::format("there are {} waivers; at most {} are allowed", values.size(),
                                kMostWaivers));
        }
        for (const YamlValue& value : values) waivers.push_back(read_waiver(value));
      });
  return waivers;
}

std::vector<Waiver> load_waivers(const std::string& path) {
  return parse_waivers(read_input_file(path, "file of waivers"), path);
}

namespace {

bool is_of(const Waiver& waiver, const CheckedItem& item) {
  return (waiver.variant.empty() || waiver.variant == item.variant) &&
         (waiver.matches(item.case_id) || waiver.matches(item.case_name));
}

/// Result of applying a waiver to an item's change for the worse.
struct Answer {
  bool is_covered = false;
  /// How the change exceeds the waiver; empty: the waiver is for another kind of change.
  std::string beyond;
};

// The check finds slowdowns of 15% of the processes, which do not move the median. Processes
// scatter around an allowed slowdown, so only a larger excess, by the threshold of a change, is
// beyond it.
bool is_sometimes_beyond(const CheckedItem& item, double allowed) {
  constexpr double kShareOfProcesses = 0.15;  // kSlowerExcess of speed_verdict.cc
  const PairedTimes::Stage times = item.times.decisive();
  if (times.empty()) return false;
  const std::vector<double> ratios = log_ratios(times);
  const double typical = typical_of(ratios);
  const double limit = std::max(std::log1p(allowed) - typical, std::log1p(item.threshold));
  return tails_of(ratios, times.pair, limit, typical).excess() >= kShareOfProcesses;
}

// An undecided item is covered if its whole interval is allowed.
Answer answer_to_time(const Waiver& waiver, const CheckedItem& item) {
  if (!waiver.slower_percent || !item.speed) return {};
  const double allowed = *waiver.slower_percent / 100;
  const bool is_slower = item.verdict == ChangeVerdict::slower;
  const double change = is_slower ? item.speed->change : item.speed->interval.high;
  const bool is_sometimes = is_sometimes_beyond(item, allowed);
  if (change <= allowed && !is_sometimes) return {true, ""};
  if (!is_slower) return {};
  const std::string found = change > allowed ? change_text(change) : "more in some processes";
  return {false, fmt::format("{:g}% slower, and this is {}", *waiver.slower_percent, found)};
}

// Compares all errors that the check compares, with the waiver's factor. A multiple of 0 is 0, so
// one ULP is always allowed. This also limits the other errors that were 0.
Answer answer_to_errors(const Waiver& waiver, const CheckedItem& item) {
  if (!waiver.error_factor || !item.base_accuracy || !item.current_accuracy) return {};
  const Accuracy &base = *item.base_accuracy, &current = *item.current_accuracy;
  const double factor = *waiver.error_factor;
  const auto is_within = [&](double before, double now) {
    return before == 0 || now <= factor * before;
  };
  const bool is_covered = current.max_ulp <= factor * base.max_ulp + 1 &&
                          current.mean_ulp <= factor * base.mean_ulp + 1 &&
                          is_within(base.max_abs, current.max_abs) &&
                          is_within(base.min_tolerance, current.min_tolerance) &&
                          1 - current.inside_share <= factor * (1 - base.inside_share);
  if (is_covered) return {true, ""};
  return {false, fmt::format("errors {:g} times as large, and {}", factor, item.evidence)};
}

Answer answer_to(const Waiver& waiver, const CheckedItem& item) {
  const bool is_open = item.verdict == ChangeVerdict::ambiguous;
  if (item.verdict == ChangeVerdict::slower || is_open) return answer_to_time(waiver, item);
  if (item.verdict == ChangeVerdict::error && item.is_error_growth)
    return answer_to_errors(waiver, item);
  return {item.verdict == ChangeVerdict::gone && waiver.allows_gone, ""};
}

std::string text_of(const WaivedBy& waived) {
  return fmt::format("waived until {}: {} ({})", waived.expires, waived.reason, waived.place);
}

/// Application of one waiver to all items.
class Application {
 public:
  Application(const Waiver& waiver, std::string_view today)
      : waiver_(waiver), has_expired_(waiver.expires < today) {}

  void apply_to(CheckedItem& item) {
    if (!is_of(waiver_, item)) return;
    has_matched_ = true;
    if (item.waived || has_expired_) return;
    const Answer answer = answer_to(waiver_, item);
    if (answer.is_covered) {
      item.waived = WaivedBy{waiver_.place, waiver_.reason, waiver_.expires};
      item.is_regression = item.is_unfinished = false;
    } else if (!answer.beyond.empty()) {
      item.notices.push_back(
          fmt::format("{} allows {}: {}", waiver_.place, answer.beyond, waiver_.reason));
    }
  }

  /// Problem of the waiver itself; empty: none found.
  std::string notice() const {
    const std::string whose =
        waiver_.variant.empty() ? "" : fmt::format(" on '{}'", waiver_.variant);
    const std::string what =
        fmt::format("{}: the waiver of '{}'{}", waiver_.place, waiver_.pattern, whose);
    if (has_expired_) {
      return fmt::format("{} expired on {} and covers nothing: {}", what, waiver_.expires,
                         waiver_.reason);
    }
    return has_matched_ ? "" : what + " matches nothing that was compared";
  }

 private:
  const Waiver& waiver_;
  bool has_expired_, has_matched_ = false;
};

}  // namespace

std::optional<WaivedBy> waiver_of_errors(const CheckedItem& item, std::span<const Waiver> waivers,
                                         std::string_view today) {
  for (const Waiver& waiver : waivers) {
    if (!is_of(waiver, item) || waiver.expires < today) continue;
    if (answer_to(waiver, item).is_covered) {
      return WaivedBy{waiver.place, waiver.reason, waiver.expires};
    }
  }
  return std::nullopt;
}

void settle_waived_errors(CheckedItem& item) {
  if (!item.waived_errors) return;
  const auto [by, evidence] = *std::exchange(item.waived_errors, std::nullopt);
  const bool is_well = check::is_well(item.verdict);
  const bool is_unjudged =
      item.verdict == ChangeVerdict::ambiguous && !item.speed && !item.is_unfinished;
  if (!is_well && !is_unjudged) {
    item.notices.push_back(fmt::format("{}; {}", evidence, text_of(by)));
    return;
  }
  item.verdict = ChangeVerdict::error;
  item.is_error_growth = true;
  item.waived = by;
  item.evidence = is_well ? fmt::format("{}; its speed: {}", evidence, item.evidence)
                          : evidence + "; its speed was not judged";
}

void apply_waivers(CheckReport& report, std::span<const Waiver> waivers, std::string_view today) {
  if (waivers.empty()) return;
  for (const Waiver& waiver : waivers) {
    Application application(waiver, today);
    for (CheckedItem& item : report.items) application.apply_to(item);
    if (std::string notice = application.notice(); !notice.empty()) {
      report.notices.push_back(std::move(notice));
    }
  }
  weigh_and_sort(report.items);
}

std::string waived_text(const CheckedItem& item) { return text_of(*item.waived); }

}  // namespace opbench::check
