#include "harness/check/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "harness/check/bout.h"
#include "harness/record/samples.h"
#include "harness/run/interrupt.h"
#include "tensor/error.h"

namespace opbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kScreeningRounds = 12, kVerdictRounds = 30, kPairsOfProcesses = 10;
constexpr std::size_t kNullCases = 3, kNullAttempts = 6;
constexpr int kNullTries = 3;
// A floor above this hides what anyone would want to know.
constexpr double kLargestNoiseFloor = 0.10;
// The median of A/A rounds strays by more standard errors than this about once in 400 times.
constexpr double kErrorsOfFloor = 3;

using Stage = PairedTimes::Stage PairedTimes::*;

class Gate {
 public:
  Gate(const GateOptions& options, const GateHooks& hooks)
      : options_(options),
        hooks_(hooks),
        base_(options.base),
        null_(options.base),
        current_(options.current),
        start_(Clock::now()),
        deadline_(start_ + std::chrono::duration_cast<Clock::duration>(
                               std::chrono::duration<double>(options.budget_s))) {}

  CheckReport run() {
    report_.mode = "gate";
    report_.base_name = options_.base.path;
    report_.rule = options_.rule;
    report_.fail_over_percent = options_.fail_over_percent;
    if (options_.run.cold) how_ += " --cold";
    if (!options_.isa.empty()) how_ += " --isa " + options_.isa;
    report_.current = current_.build();
    report_.base = base_.build();
    note_builds();
    try {
      bouts_ = collect_bouts(base_, current_, options_.run, report_.notices);
      measure_noise();
      screen_all();
      decide_all("verdict", &PairedTimes::verdict);
      decide_all("confirmation", &PairedTimes::confirmation);
    } catch (const RunError&) {
      if (!interrupted()) throw;
      report_.was_interrupted = true;
    }
    judge_all();
    report_.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    return std::move(report_);
  }

 private:
  void note_builds() {
    const BuildInfo &a = report_.base, &b = report_.current;
    const auto made = [](const BuildInfo& build) {
      return fmt::format("{}, {}, {}", build.compiler, build.build_type, build.flags);
    };
    if (made(a) == made(b)) return;
    report_.notices.push_back(
        fmt::format("the builds are made differently, and that is compared as well: {} against {}",
                    made(a), made(b)));
  }

  OpenRequest request(const Bout& bout) const {
    OpenRequest request;
    request.id = bout.spec.id;
    request.key = bout.spec.key;
    request.threads = bout.threads;
    request.variants = bout.spec.variants;
    request.cold = options_.run.cold;
    request.verify = options_.run.verify;
    request.isa = options_.isa;
    request.sample_seconds = options_.sample_seconds;
    return request;
  }

  void step(const char* phase, std::size_t done, std::size_t total, const Bout& bout) const {
    if (interrupted()) throw RunError("interrupted");
    if (hooks_.step) hooks_.step(phase, done, total, bout.spec.id);
  }

  // The other build against itself. A burst of other work may pass, so a floor too high is measured
  // again.
  void measure_noise() {
    for (int i = 0; i < kNullTries && (i == 0 || report_.is_too_noisy); ++i) {
      report_.noise_floor = typical_null_floor();
      report_.is_too_noisy = report_.noise_floor > kLargestNoiseFloor;
    }
    null_.restart();
  }

  // On cases from all over the plan.
  double typical_null_floor() {
    std::vector<const Bout*> known;
    for (const Bout& bout : bouts_) {
      if (bout.base_id) known.push_back(&bout);
    }
    const std::size_t attempts = std::min(known.size(), kNullAttempts);
    std::vector<double> floors;
    for (std::size_t i = 0; i < attempts && floors.size() < kNullCases; ++i) {
      // From the front and from the middle in turn, so that the first that work are spread out.
      const std::size_t turn = i / 2 + (i % 2 == 0 ? 0 : (attempts + 1) / 2);
      const Bout& bout = *known[turn * known.size() / attempts];
      step("noise", i, attempts, bout);
      if (const auto floor = null_floor(bout)) floors.push_back(*floor);
    }
    return median_of(floors);
  }

  // The smallest change that the verdict's rounds of this case can show; none where nothing could
  // be timed. A worker that is lost here will be lost again when it can be reported.
  std::optional<double> null_floor(const Bout& bout) {
    try {
      Duel duel(base_, null_);
      OpenRequest asked = request(bout);
      asked.id = *bout.base_id;
      asked.verify = false;
      const OpenReply reply = duel.open_base(asked);
      duel.open_current(asked);
      const auto ready = std::find_if(
          reply.variants.begin(), reply.variants.end(),
          [](const OpenedVariant& variant) { return variant.status == Status::unverified; });
      if (ready == reply.variants.end()) return std::nullopt;
      Contestant contestant;
      contestant.item.variant = ready->name;
      contestant.is_open = true;
      std::vector<Contestant*> alone = {&contestant};
      duel.fight(alone, &PairedTimes::screening, kScreeningRounds, deadline_);
      duel.close();
      const std::vector<double> ratios = log_ratios(contestant.times.screening);
      if (!contestant.is_open || ratios.empty()) return std::nullopt;
      return std::expm1(std::max(kErrorsOfFloor * median_standard_error(ratios, kVerdictRounds),
                                 std::fabs(median_of(ratios))));
    } catch (const ChildLost&) {
    } catch (const PeerError&) {
    }
    return std::nullopt;
  }

  void screen_all() {
    for (std::size_t i = 0; i < bouts_.size(); ++i) {
      step("screening", i, bouts_.size(), bouts_[i]);
      if (Clock::now() > deadline_) {
        skip_bout(bouts_[i], "not measured: the budget ended before its turn");
      } else {
        guarded(bouts_[i], [&](Duel& duel) { screen(bouts_[i], duel); });
      }
    }
  }

  // What is lost with a worker is one case.
  template <class Action>
  void guarded(Bout& bout, Action action) {
    Duel duel(base_, current_);
    try {
      action(duel);
    } catch (const ChildLost& lost) {
      fail_bout(bout, lost.what());
    } catch (const PeerError& error) {
      fail_bout(bout, error.what());
    }
  }

  void screen(Bout& bout, Duel& duel) {
    meet(bout, duel, request(bout));
    std::vector<Contestant*> open = open_contestants(bout);
    if (report_.is_too_noisy) {
      for (Contestant* contestant : open) {
        contestant->is_open = false;
        contestant->item.evidence = "accuracy is well; its speed was not judged";
      }
    } else if (!duel.fight(open, &PairedTimes::screening, kScreeningRounds, deadline_)) {
      for (Contestant* contestant : open) {
        contestant->is_open = false;
        contestant->item.is_unfinished = true;
        contestant->item.evidence = "not measured: the budget ended";
      }
    }
    duel.close();
    settle_same(bout, &PairedTimes::screening);
  }

  void settle_same(Bout& bout, Stage stage) {
    for (Contestant* contestant : open_contestants(bout)) {
      const PairedTimes::Stage& times = contestant->times.*stage;
      contestant->is_open =
          times.base_us.empty() || judge_speed(log_ratios(times), median_of(times.base_us),
                                               rule_of(bout)) != SpeedCall::same;
    }
  }

  SpeedRule rule_of(const Bout& bout) const {
    SpeedRule rule = options_.rule;
    rule.threshold = std::max(bout.spec.threshold.value_or(rule.threshold), report_.noise_floor);
    return rule;
  }

  // Everything that is still open, the worst first: the budget may end.
  void decide_all(const char* phase, Stage stage) {
    std::vector<std::pair<double, Bout*>> open;
    for (Bout& bout : bouts_) {
      double worst = 0;
      for (const Contestant* contestant : open_contestants(bout)) {
        worst = std::max(worst, 1 + summarise(contestant->times).change);
      }
      if (worst > 0) open.emplace_back(-worst, &bout);
    }
    std::stable_sort(open.begin(), open.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < open.size() && Clock::now() < deadline_; ++i) {
      Bout& bout = *open[i].second;
      step(phase, i, open.size(), bout);
      guarded(bout, [&](Duel& duel) { fight_in_fresh_processes(bout, duel, stage); });
      if (stage == &PairedTimes::verdict) settle_same(bout, stage);
    }
  }

  void fight_in_fresh_processes(Bout& bout, Duel& duel, Stage stage) {
    const int first = stage == &PairedTimes::confirmation ? kPairsOfProcesses : 0;
    for (int i = 0; i < kPairsOfProcesses; ++i) {
      duel.set_pair(first + i);
      std::vector<Contestant*> open = open_contestants(bout);
      if (open.empty()) return;
      base_.restart();
      current_.restart();
      OpenRequest asked = request(bout);
      asked.verify = false;
      asked.variants.clear();
      for (const Contestant* contestant : open) asked.variants.push_back(contestant->item.variant);
      asked.id = *bout.base_id;
      duel.open_base(asked);
      asked.id = bout.spec.id;
      duel.open_current(asked);
      if (!duel.fight(open, stage, kVerdictRounds / kPairsOfProcesses, deadline_)) return;
    }
  }

  void judge_all() {
    std::vector<Contestant*> timed;
    std::vector<double> p;
    for (Bout& bout : bouts_) {
      for (Contestant& contestant : bout.contestants) {
        if (contestant.times.screening.base_us.empty()) continue;
        if (contestant.item.verdict == CheckVerdict::error) continue;
        contestant.item.speed = summarise(contestant.times);
        // What is already the same is no discovery, however sure its small change is.
        p.push_back(contestant.is_open ? contestant.item.speed->sign_p : 1);
        timed.push_back(&contestant);
      }
    }
    const std::vector<double> adjusted = benjamini_hochberg(p);
    for (std::size_t i = 0; i < timed.size(); ++i) timed[i]->item.speed->adjusted_p = adjusted[i];
    for (Bout& bout : bouts_) {
      for (Contestant& contestant : bout.contestants) finish(bout, contestant);
    }
    weigh_and_sort(report_.items);
  }

  void finish(const Bout& bout, Contestant& contestant) {
    CheckItem& item = contestant.item;
    if (item.speed) judge_item(item, contestant.times, rule_of(bout));
    // Then all of them together decide.
    if (item.verdict == CheckVerdict::slower && options_.fail_over_percent) {
      item.is_regression = false;
    }
    item.next = next_command(item, options_.base.path, how_);
    report_.items.push_back(std::move(item));
  }

  const GateOptions& options_;
  const GateHooks& hooks_;
  Peer base_, null_, current_;
  Clock::time_point start_, deadline_;
  std::string how_;  ///< flags to repeat a measurement with
  std::vector<Bout> bouts_;
  CheckReport report_;
};

}  // namespace

CheckReport run_gate(const GateOptions& options, const GateHooks& hooks) {
  return Gate(options, hooks).run();
}

}  // namespace opbench
