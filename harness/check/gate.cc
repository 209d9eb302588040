#include "harness/check/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "harness/check/compared_case.h"
#include "harness/check/noise_floor.h"
#include "harness/check/stages.h"
#include "harness/record/samples.h"
#include "harness/run/interrupt.h"
#include "tensor/error.h"

namespace opbench::check {
namespace {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// What is compared beside the sources.
std::vector<std::string> build_notices(const BuildInfo& base, const BuildInfo& current) {
  const auto made = [](const BuildInfo& build) {
    return fmt::format("{}, {}, {}", build.compiler, build.build_type, build.flags);
  };
  if (made(base) == made(current)) return {};
  return {
      fmt::format("the builds are made differently, and that is compared as well: {} against {}",
                  made(base), made(current))};
}

class Gate {
 public:
  Gate(const GateOptions& options, const GateHooks& hooks)
      : options_(options),
        hooks_(hooks),
        base_(options.base),
        null_(options.base),
        current_(options.current) {
    budget_.now_s = options.now_s ? options.now_s : steady_seconds;
    start_s_ = budget_.now_s();
    budget_.end_s = start_s_ + options.budget_s;
    how_.cold = options.run.cold;
    how_.verify = options.run.verify;
    how_.isa = options.isa;
    how_.sample_seconds = options.sample_seconds;
  }

  Report run() {
    describe();
    try {
      cases_ = collect_cases(base_, current_, options_.run, report_.notices);
      measure_noise();
      screen_all();
      decide_all("verdict", &PairedTimes::verdict);
      decide_all("confirmation", &PairedTimes::confirmation);
    } catch (const RunError&) {
      if (!interrupted()) throw;
      report_.was_interrupted = true;
    }
    judge_all();
    report_.seconds = budget_.now_s() - start_s_;
    return std::move(report_);
  }

 private:
  void describe() {
    report_.mode = "gate";
    report_.base_name = options_.base.path;
    report_.rule = options_.rule;
    report_.fail_over_percent = options_.fail_over_percent;
    report_.current = current_.build();
    report_.base = base_.build();
    report_.notices = build_notices(report_.base, report_.current);
  }

  void announce(const char* phase, std::size_t done, std::size_t total,
                const ComparedCase& compared) const {
    if (interrupted()) throw RunError("interrupted");
    if (hooks_.progress) hooks_.progress(phase, done, total, compared.spec.id);
  }

  void measure_noise() {
    NoiseFloor noise =
        measure_noise_floor(base_, null_, cases_, how_, budget_,
                            [&](std::size_t done, std::size_t total, const ComparedCase& compared) {
                              announce("noise", done, total, compared);
                            });
    report_.noise_floor = noise.share;
    std::move(noise.lost.begin(), noise.lost.end(), std::back_inserter(report_.notices));
    report_.is_too_noisy = report_.noise_floor > kLargestNoiseFloor;
  }

  void screen_all() {
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      announce("screening", i, cases_.size(), cases_[i]);
      if (budget_.is_spent()) {
        cases_[i].skip("not measured: the budget ended before its turn");
      } else {
        guarded(cases_[i], [&](PairedRun& run) { screen(cases_[i], run); });
      }
    }
  }

  // What is lost with a worker is one case.
  template <class Action>
  void guarded(ComparedCase& compared, Action action) {
    PairedRun run(base_, current_);
    try {
      action(run);
    } catch (const ChildLost& lost) {
      compared.fail(lost.what());
    } catch (const PeerError& error) {
      compared.fail(error.what());
    }
  }

  void screen(ComparedCase& compared, PairedRun& run) {
    open_in_both(compared, run, how_);
    const std::vector<ComparedVariant*> open = compared.open_variants();
    if (report_.is_too_noisy) {
      for (ComparedVariant* variant : open) {
        variant->is_open = false;
        variant->item.evidence = "accuracy is well; its speed was not judged";
      }
    } else if (!run.measure(open, &PairedTimes::screening, kScreeningRounds, budget_)) {
      for (ComparedVariant* variant : open) {
        variant->is_open = false;
        variant->item.is_unfinished = true;
        variant->item.evidence = "not measured: the budget ended";
      }
    }
    run.close();
    settle_same(compared, &PairedTimes::screening);
  }

  void settle_same(ComparedCase& compared, StageMember stage) {
    for (ComparedVariant* variant : compared.open_variants()) {
      const PairedTimes::Stage& times = variant->times.*stage;
      variant->is_open =
          times.empty() || judge_speed(log_ratios(times), median_of(times.base_us),
                                       rule_of(compared), times.pair) != SpeedCall::same;
    }
  }

  SpeedRule rule_of(const ComparedCase& compared) const {
    SpeedRule rule = options_.rule;
    rule.threshold =
        std::max(compared.spec.threshold.value_or(rule.threshold), report_.noise_floor);
    return rule;
  }

  // Everything that is still open, the worst first: the budget may end.
  void decide_all(const char* phase, StageMember stage) {
    std::vector<std::pair<double, ComparedCase*>> open;
    for (ComparedCase& compared : cases_) {
      double worst = 0;
      for (const ComparedVariant* variant : compared.open_variants()) {
        worst = std::max(worst, 1 + summarise(variant->times).change);
      }
      if (worst > 0) open.emplace_back(-worst, &compared);
    }
    std::stable_sort(open.begin(), open.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < open.size(); ++i) {
      ComparedCase& compared = *open[i].second;
      if (!budget_.is_spent()) {
        announce(phase, i, open.size(), compared);
        guarded(compared,
                [&](PairedRun& run) { measure_in_fresh_processes(compared, run, stage); });
      }
      note_cuts(compared, stage);
      if (stage == &PairedTimes::verdict) settle_same(compared, stage);
    }
  }

  static void note_cuts(ComparedCase& compared, StageMember stage) {
    for (ComparedVariant* variant : compared.open_variants()) {
      variant->times.is_cut = (variant->times.*stage).size() < std::size_t{kVerdictRounds};
    }
  }

  void measure_in_fresh_processes(ComparedCase& compared, PairedRun& run, StageMember stage) {
    const int first = stage == &PairedTimes::confirmation ? kPairsOfProcesses : 0;
    for (int i = 0; i < kPairsOfProcesses; ++i) {
      const std::vector<ComparedVariant*> open = compared.open_variants();
      if (open.empty()) return;
      run.set_pair(first + i);
      open_in_fresh_processes(compared, run, open);
      if (!run.measure(open, stage, kVerdictRounds / kPairsOfProcesses, budget_)) return;
    }
  }

  void open_in_fresh_processes(const ComparedCase& compared, PairedRun& run,
                               const std::vector<ComparedVariant*>& open) {
    base_.restart();
    current_.restart();
    OpenRequest base = base_request(compared, how_), current = current_request(compared, how_);
    for (OpenRequest* request : {&base, &current}) {
      request->verify = false;  // was done
      request->variants.clear();
      for (const ComparedVariant* variant : open) {
        request->variants.push_back(variant->item.variant);
      }
    }
    run.open_base(base);
    run.open_current(current);
  }

  void judge_all() {
    std::vector<ComparedVariant*> timed;
    std::vector<double> p;
    for (ComparedCase& compared : cases_) {
      for (ComparedVariant& variant : compared.variants) {
        if (variant.times.screening.empty() || variant.item.verdict == Verdict::error) continue;
        variant.item.speed = summarise(variant.times);
        // What is already the same is no discovery, however sure its small change is.
        p.push_back(variant.is_open ? variant.item.speed->sign_p : 1);
        timed.push_back(&variant);
      }
    }
    const std::vector<double> adjusted = benjamini_hochberg(p);
    for (std::size_t i = 0; i < timed.size(); ++i) timed[i]->item.speed->adjusted_p = adjusted[i];
    for (ComparedCase& compared : cases_) {
      for (ComparedVariant& variant : compared.variants) finish(compared, variant);
    }
    note_budget();
    weigh_and_sort(report_.items);
  }

  void note_budget() {
    const auto is_left = [](const Item& item) {
      return item.is_unfinished && item.verdict == Verdict::ambiguous;
    };
    const auto is_suspect = [&](const Item& item) {
      return is_left(item) && item.speed && item.speed->interval.low > 0;
    };
    const auto& items = report_.items;
    const auto left = std::count_if(items.begin(), items.end(), is_left);
    if (left == 0) return;
    report_.notices.push_back(fmt::format(
        "the budget of {:g} s ended with {} of {} undecided, {} of them slower so far; --budget "
        "gives more time",
        options_.budget_s, left, items.size(),
        std::count_if(items.begin(), items.end(), is_suspect)));
  }

  void finish(const ComparedCase& compared, ComparedVariant& variant) {
    Item& item = variant.item;
    item.cold = how_.cold;
    if (item.speed) judge_item(item, variant.times, rule_of(compared));
    // Then all of them together decide.
    if (item.verdict == Verdict::slower && options_.fail_over_percent) item.is_regression = false;
    item.next = next_command(item, options_.base.path, further_flags());
    report_.items.push_back(std::move(item));
  }

  // To repeat a measurement with.
  std::vector<std::string> further_flags() const {
    std::vector<std::string> flags;
    if (how_.cold) flags.emplace_back("--cold");
    if (!how_.isa.empty()) flags.insert(flags.end(), {"--isa", how_.isa});
    return flags;
  }

  const GateOptions& options_;
  const GateHooks& hooks_;
  Peer base_, null_, current_;
  Budget budget_;
  double start_s_ = 0;
  OpenRequest how_;
  std::vector<ComparedCase> cases_;
  Report report_;
};

}  // namespace

Report run_gate(const GateOptions& options, const GateHooks& hooks) {
  return Gate(options, hooks).run();
}

}  // namespace opbench::check
