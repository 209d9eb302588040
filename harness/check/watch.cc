#include "harness/check/watch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "harness/check/speed_verdict.h"
#include "harness/check/verdict.h"
#include "harness/plan/case.h"
#include "harness/report/text.h"
#include "harness/run/samples.h"
#include "tensor/dtype.h"
#include "tensor/error.h"
#include "text/program.h"

namespace opbench::check {
namespace {

/// A result and its machine.
struct MachineRecord {
  const Record* record = nullptr;
  const Machine* machine = nullptr;
};

// Results of all machines of a file, the first machine first.
std::vector<MachineRecord> records_of(const ResultsFile& file) {
  std::vector<MachineRecord> result;
  const auto add = [&](const ResultsFile& part) {
    for (const Record& record : part.run.records) result.push_back({&record, &part.machine});
  };
  add(file);
  for (const ResultsFile& other : file.others) add(other);
  return result;
}

using Machines = std::pair<const Machine*, const Machine*>;

/// One variant of one case in both files; null: missing.
struct Pair {
  Pair(MachineRecord from, MachineRecord to)
      : base(from.record), current(to.record), machines(from.machine, to.machine) {}

  const Record* base;
  const Record* current;
  Machines machines;

  const Record& any() const { return current != nullptr ? *current : *base; }
  bool is_timed() const { return has_time(base) && has_time(current); }
  double log_ratio() const { return std::log(current->times->median_us / base->times->median_us); }

 private:
  static bool has_time(const Record* record) {
    return record != nullptr && record->times && record->times->median_us > 0;
  }
};

// A results file may have any origin, and old files have lines that are not quoted.
std::string line_to_paste(const std::string& reproduce) {
  const std::vector<std::string> words = shell_words(reproduce);
  const bool is_ours =
      !words.empty() && (words.front() == "opbench" || words.front() == program_name());
  return is_ours ? shell_line(words) : std::string();
}

// In the order of the later file, then results of the earlier file only.
std::vector<Pair> pairs_of(const ResultsFile& baseline, const ResultsFile& current) {
  const std::vector<MachineRecord> before = records_of(baseline);
  std::map<ResultKey, MachineRecord> others;
  for (const MachineRecord& one : before) others.emplace(key_of(*one.record), one);
  std::vector<Pair> pairs;
  for (const MachineRecord& one : records_of(current)) {
    const auto other = others.find(key_of(*one.record));
    pairs.emplace_back(other == others.end() ? MachineRecord{} : other->second, one);
    if (other != others.end()) others.erase(other);
  }
  for (const MachineRecord& one : before) {
    if (others.contains(key_of(*one.record))) pairs.emplace_back(one, MachineRecord{});
  }
  return pairs;
}

// Common slowdown of all results, as a log-ratio.
double drift_of(const std::vector<Pair>& pairs) {
  std::vector<double> changes;
  for (const Pair& pair : pairs) {
    if (!pair.is_timed()) continue;
    if (pair.current->variant == "native") changes.push_back(pair.log_ratio());
    // Rates of different copy methods cannot be compared.
    if (pair.base->copy_gb_per_s > 0 && pair.current->copy_gb_per_s > 0 &&
        pair.base->copy_way == pair.current->copy_way) {
      changes.push_back(std::log(pair.base->copy_gb_per_s / pair.current->copy_gb_per_s));
    }
  }
  return median_of(changes);
}

OpenedVariant opened(const Record& record) {
  OpenedVariant result{record.variant, record.status, record.reason, record.accuracy, {}, {}};
  if (record.step) result.conversions = conversions_of(*record.step);
  for (const DType dtype : kAllDTypes) {
    if (name(dtype) == record.dtype) result.epsilon = epsilon_of(dtype);
  }
  return result;
}

void judge_times(CheckedItem& item, const Pair& pair, double drift, const WatchOptions& options) {
  const Times &base = *pair.base->times, &current = *pair.current->times;
  const ChangeBounds bounds =
      normal_bounds(pair.log_ratio() - drift,
                    std::hypot(report::relative_error(base), report::relative_error(current)));
  const SpeedRule rule = unpaired(options.rule);
  SpeedChange& speed = item.speed.emplace();
  speed.base_us = base.median_us;
  speed.current_us = current.median_us;
  speed.change = std::expm1(bounds.median);
  speed.interval = {std::expm1(bounds.wide.low), std::expm1(bounds.wide.high)};
  speed.rounds = static_cast<int>(std::min(base.samples.size(), current.samples.size()));
  item.threshold = rule.threshold;
  item.evidence =
      fmt::format("{}, {} -> {}", change_text(speed.change, speed.interval),
                  report::time_text(speed.base_us), report::time_text(speed.current_us));
  const double limit = std::log1p(least_change(speed.base_us, rule));
  item.verdict = verdict_of(call_of(bounds, limit));
  // With few samples only this can be decided.
  if (std::fabs(bounds.median) < limit) item.verdict = ChangeVerdict::same;
  if (item.verdict != ChangeVerdict::slower) return;
  item.is_regression = options.is_gate;
  item.evidence += "; only a gate, `opbench check --against`, can prove it";
}

CheckedItem item_of(const Pair& pair) {
  const Record& record = pair.any();
  CheckedItem item;
  item.case_id = record.case_id;
  item.case_key = case_key_of(record);
  item.case_name = record.case_name;
  item.variant = record.variant;
  item.count = record.count;
  item.threads = record.threads;
  item.cold = record.cold;
  return item;
}

BuildInfo build_of(const Machine& m) {
  return {m.version, m.revision, m.compiler, m.flags, m.build_type};
}

bool is_skipped(const Record* record) {
  return record == nullptr || record->status == Status::skipped;
}

/// Common properties of all pairs of two machines.
struct Setting {
  const WatchOptions& options;
  double drift = 0;
  bool is_other_machine = false;
};

CheckedItem judged(const Pair& pair, const Setting& setting) {
  CheckedItem item = item_of(pair);
  const OpenedVariant base = pair.base == nullptr ? OpenedVariant{} : opened(*pair.base);
  const OpenedVariant current = pair.current == nullptr ? OpenedVariant{} : opened(*pair.current);
  const bool is_open = judge_accuracy(item, pair.base == nullptr ? nullptr : &base,
                                      pair.current == nullptr ? nullptr : &current) &&
                       judge_conversions(item, base, current);
  if (is_open && setting.is_other_machine) {
    item.verdict = ChangeVerdict::incomparable;
    item.evidence = "the accuracy passes; times of different machines are not compared";
  } else if (is_open && pair.is_timed()) {
    judge_times(item, pair, setting.drift, setting.options);
  } else if (is_open) {
    item.verdict = ChangeVerdict::incomparable;
    item.evidence = "not timed in both";
  }
  if (!is_well(item.verdict)) item.next = line_to_paste(pair.any().reproduce);
  return item;
}

// Adds a notice: the differences of two machines, or their common change of speed.
Setting setting_of(const Machines& both, const std::vector<Pair>& all, const WatchOptions& options,
                   std::vector<std::string>& notices) {
  std::vector<Pair> pairs;
  std::copy_if(all.begin(), all.end(), std::back_inserter(pairs),
               [&](const Pair& pair) { return pair.machines == both; });
  const auto differences = machine_differences(*both.first, *both.second);
  if (!differences.empty()) {
    notices.push_back(fmt::format(
        "the machines differ ({}){}", fmt::join(differences, "; "),
        options.allow_other_machine ? "" : "; --allow-other-machine compares their times anyway"));
  }
  const Setting setting{options, drift_of(pairs),
                        !differences.empty() && !options.allow_other_machine};
  if (!setting.is_other_machine) {
    notices.push_back(
        fmt::format("by its copy rates and `native` times the machine changed by {}; all times are "
                    "corrected for this",
                    change_text(std::expm1(setting.drift))));
  }
  return setting;
}

}  // namespace

std::string case_key_of(const Record& record) {
  return record.step ? record.case_id : key_of_id(record.case_id);
}

ResultKey key_of(const Record& record) {
  return {case_key_of(record), record.variant, record.threads, record.cold};
}

std::vector<std::string> machine_differences(const Machine& before, const Machine& now) {
  std::vector<std::string> result;
  const auto compare = [&](std::string_view what, const auto& a, const auto& b) {
    if (a != b) result.push_back(fmt::format("{} {}, now {}", what, a, b));
  };
  compare("cpu", before.cpu, now.cpu);
  compare("cores", before.cores, now.cores);
  compare("last-level cache", before.l3_bytes, now.l3_bytes);
  compare("vectors", before.isa, now.isa);
  compare("governor", before.governor, now.governor);
  compare("turbo", before.turbo, now.turbo);
  compare("build type", before.build_type, now.build_type);
  return result;
}

CheckReport run_watch(const ResultsFile& baseline, const ResultsFile& current,
                      const WatchOptions& options) {
  CheckReport report;
  report.mode = "watch";
  report.base_name = baseline.path;
  report.base = build_of(baseline.machine);
  report.current = build_of(current.machine);
  report.rule = unpaired(options.rule);
  report.was_interrupted = current.run.was_interrupted;
  const std::vector<Pair> pairs = pairs_of(baseline, current);
  std::map<Machines, Setting> settings;
  const auto setting_for = [&](const Machines& both) {
    auto found = settings.find(both);
    if (found == settings.end()) {
      found = settings.emplace(both, setting_of(both, pairs, options, report.notices)).first;
    }
    return found->second;
  };
  // The first machines come first, even if they share no result.
  const Setting first = setting_for({&baseline.machine, &current.machine});
  for (const Pair& pair : pairs) {
    const bool is_in_both = pair.base != nullptr && pair.current != nullptr;
    const Setting setting = is_in_both ? setting_for(pair.machines) : first;
    if (is_skipped(pair.base) && is_skipped(pair.current)) continue;
    report.items.push_back(judged(pair, setting));
  }
  weigh_and_sort(report.items);
  return report;
}

}  // namespace opbench::check
