#include "harness/check/gate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "harness/check/compared_case.h"
#include "harness/check/first_calls.h"
#include "harness/check/paired_times.h"
#include "harness/check/rounds.h"
#include "harness/check/same_code.h"
#include "harness/check/verdict.h"
#include "harness/check/waivers.h"
#include "harness/check/worker_client.h"
#include "tensor/error.h"
#include "workers/interrupt.h"

namespace opbench::check {
namespace {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Differences of the builds other than their sources.
std::vector<std::string> build_notices(const BuildInfo& base, const BuildInfo& current) {
  const auto made = [](const BuildInfo& build) {
    return fmt::format("{}, {}, {}", build.compiler, build.build_type, build.flags);
  };
  if (made(base) == made(current)) return {};
  return {fmt::format(
      "the builds differ in more than their sources, which may change times: {} against {}",
      made(base), made(current))};
}

WorkerProgram on_clock(WorkerProgram program, const GateOptions& options) {
  program.now_s = options.now_s;
  return program;
}

class Gate {
 public:
  Gate(const GateOptions& options, const GateHooks& hooks)
      : options_(options),
        hooks_(hooks),
        base_(on_clock(options.base, options)),
        null_(on_clock(options.base, options)),
        current_(on_clock(options.current, options)),
        rounds_(base_, null_, current_, how_, budget_, options.accuracy) {
    budget_.now_s = options.now_s ? options.now_s : steady_seconds;
    start_s_ = budget_.now_s();
    budget_.end_s = start_s_ + options.budget_s;
    how_.cold = options.run.cold;
    how_.verify = how_.watch = options.run.verify;
    how_.isa = options.isa;
    how_.sample_seconds = options.sample_seconds;
  }

  CheckReport run() {
    describe();
    try {
      cases_ = collect_cases(base_, current_, options_.run, report_.notices);
      if (is_same_program(options_.base, options_.current)) {
        settle_as_same();
      } else {
        compare_all();
      }
    } catch (const RunError&) {
      if (!interrupted()) throw;
      report_.was_interrupted = true;
    }
    judge_all();
    end_workers();
    report_.seconds = budget_.now_s() - start_s_;
    return std::move(report_);
  }

 private:
  void describe() {
    report_.mode = "gate";
    const std::vector<std::string>& kernels = options_.base.kernels;
    report_.base_name =
        kernels.empty() ? options_.base.path : fmt::format("{}", fmt::join(kernels, " "));
    report_.rule = options_.rule;
    report_.fail_over_percent = options_.fail_over_percent;
    report_.fails_on_ambiguous = options_.fails_on_ambiguous;
    report_.current = current_.build();
    report_.base = base_.build();
    report_.notices = build_notices(report_.base, report_.current);
  }

  void announce(const char* phase, std::size_t done, std::size_t total,
                const ComparedCase& compared) const {
    if (interrupted()) throw RunError("interrupted");
    if (hooks_.progress) hooks_.progress(phase, done, total, compared.spec.id);
  }

  void settle_as_same() {
    for (ComparedCase& compared : cases_) compared.settle_as_same();
    report_.notices.push_back(fmt::format(
        "'{}' is the same program as this one, byte for byte: there is nothing to compare, and "
        "nothing was run",
        options_.base.path));
  }

  void compare_all() {
    screen_all();
    is_too_noisy_ = typical_noise(cases_) > kLargestNoise;
    decide_all("verdict", &PairedTimes::verdict);
    decide_all("confirmation", &PairedTimes::confirmation);
    compare_first_calls();
    decide_what_is_left();
  }

  void screen_all() {
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      ComparedCase& compared = cases_[i];
      announce("screening", i, cases_.size(), compared);
      if (budget_.is_spent()) {
        compared.skip("not measured: the budget ended before its turn");
        continue;
      }
      rounds_.screen(compared);
      settle(compared);
      confirm_suspicion(compared);
    }
  }

  void settle(ComparedCase& compared) const {
    for (ComparedVariant* variant : compared.open_variants()) {
      if (!variant->times.screening.empty()) variant->evaluate_times(rule_of(compared));
    }
  }

  SpeedRule rule_of(const ComparedCase& compared) const {
    SpeedRule rule = options_.rule;
    rule.threshold = compared.spec.threshold.value_or(rule.threshold);
    return rule;
  }

  // Suspects are confirmed before the next case, so that the budget does not end with unconfirmed
  // ones.
  void confirm_suspicion(ComparedCase& compared) {
    const std::vector<ComparedVariant*> open = compared.open_variants();
    const bool is_suspect =
        std::any_of(open.begin(), open.end(),
                    [](const ComparedVariant* variant) { return variant->finding.is_suspect; });
    if (!is_suspect) return;
    take_stage(compared, &PairedTimes::verdict);
    take_stage(compared, &PairedTimes::confirmation);
  }

  void take_stage(ComparedCase& compared, StageMember stage) {
    if (!budget_.is_spent()) rounds_.measure(compared, stage);
    for (ComparedVariant* variant : compared.open_variants()) {
      variant->times.is_cut = (variant->times.*stage).size() < std::size_t{kVerdictRounds};
    }
    settle(compared);
  }

  static bool lacks(const ComparedCase& compared, StageMember stage) {
    const auto is_short = [&](const ComparedVariant& variant) {
      return variant.is_open && (variant.times.*stage).size() < std::size_t{kVerdictRounds};
    };
    return std::any_of(compared.variants.begin(), compared.variants.end(), is_short);
  }

  // Slowest first, because the budget may end.
  template <class Wanted>
  std::vector<ComparedCase*> worst_first(Wanted is_wanted) {
    std::vector<std::pair<double, ComparedCase*>> open;
    for (ComparedCase& compared : cases_) {
      double worst = 0;
      for (const ComparedVariant* variant : compared.open_variants()) {
        const bool is_hidden_by_noise = is_too_noisy_ && !variant->finding.is_suspect;
        if (!is_hidden_by_noise && is_wanted(compared, *variant)) {
          worst = std::max(worst, 1 + variant->finding.change.change);
        }
      }
      if (worst > 0) open.emplace_back(-worst, &compared);
    }
    std::stable_sort(open.begin(), open.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<ComparedCase*> result;
    for (const auto& [worst, compared] : open) result.push_back(compared);
    return result;
  }

  void decide_all(const char* phase, StageMember stage) {
    const std::vector<ComparedCase*> open =
        worst_first([&](const ComparedCase& compared, const ComparedVariant&) {
          return lacks(compared, stage);
        });
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (!budget_.is_spent()) announce(phase, i, open.size(), *open[i]);
      take_stage(*open[i], stage);
    }
  }

  void compare_first_calls() {
    if (!options_.compares_first_calls) return;
    FirstCalls first_calls(cases_, rounds_, budget_,
                           [this](const ComparedCase& c) { return rule_of(c); });
    first_calls.compare(
        [&](std::size_t done, std::size_t total, const ComparedCase& compared) {
          announce("first call", done, total, compared);
        },
        is_too_noisy_);
  }

  // Measures more pairs of processes for all variants that may still be slower.
  void decide_what_is_left() {
    while (!budget_.is_spent()) {
      adjust_for_all(cases_);
      const std::vector<ComparedCase*> open =
          worst_first([](const ComparedCase&, const ComparedVariant& variant) {
            return variant.finding.may_be_slower && !variant.finding.is_decided();
          });
      if (open.empty()) return;
      for (std::size_t i = 0; i < open.size() && !budget_.is_spent(); ++i) {
        announce("undecided", i, open.size(), *open[i]);
        rounds_.measure(*open[i], &PairedTimes::confirmation);
        settle(*open[i]);
      }
    }
  }

  void judge_all() {
    report_.noise_floor = typical_noise(cases_);
    adjust_for_all(cases_);
    for (ComparedCase& compared : cases_) {
      for (ComparedVariant& variant : compared.variants) finish(compared, variant);
      for (ComparedVariant& variant : compared.first_calls) finish(compared, variant);
    }
    if (budget_.is_spent()) note_budget(report_.items, options_.budget_s, report_.notices);
    note_same_code(report_.items, report_.notices);
    weigh_and_sort(report_.items);
  }

  void finish(const ComparedCase& compared, ComparedVariant& variant) {
    CheckedItem& item = variant.item;
    item.cold = how_.cold;
    if (variant.is_timed()) {
      item.speed = variant.finding.change;
      judge_item(item, variant.finding, rule_of(compared), variant.times.is_cut);
      note_unknown_code(variant, item);
    }
    settle_waived_errors(item);
    // With `fail_over_percent`, the total of all SLOWER decides instead.
    if (item.verdict == ChangeVerdict::slower && options_.fail_over_percent &&
        !item.is_first_call) {
      item.is_regression = false;
    }
    item.next = next_command(item, options_.base, further_flags());
    item.times = std::move(variant.times);
    report_.items.push_back(std::move(item));
  }

  // A worker that crashes or hangs at its end makes its answers unreliable.
  void end_workers() {
    for (WorkerClient* worker : {&base_, &null_, &current_}) {
      worker->restart();
      std::vector<std::string>& failures = report_.failures;
      const bool is_known =
          std::find(failures.begin(), failures.end(), worker->bad_end()) != failures.end();
      if (!worker->bad_end().empty() && !is_known) failures.push_back(worker->bad_end());
    }
  }

  // Flags that repeat a measurement.
  std::vector<std::string> further_flags() const {
    std::vector<std::string> flags;
    if (how_.cold) flags.emplace_back("--cold");
    if (!how_.isa.empty()) flags.insert(flags.end(), {"--isa", how_.isa});
    return flags;
  }

  const GateOptions& options_;
  const GateHooks& hooks_;
  WorkerClient base_, null_, current_;
  Budget budget_;
  OpenRequest how_;
  Rounds rounds_;
  double start_s_ = 0;
  bool is_too_noisy_ = false;
  std::vector<ComparedCase> cases_;
  CheckReport report_;
};

}  // namespace

CheckReport run_gate(const GateOptions& options, const GateHooks& hooks) {
  return Gate(options, hooks).run();
}

}  // namespace opbench::check
