#include "harness/run/item_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "harness/run/attempt.h"
#include "harness/run/copy_rate.h"
#include "harness/run/interrupt.h"
#include "harness/run/new_record.h"
#include "harness/run/open_item.h"
#include "harness/run/phase_timer.h"
#include "harness/run/run_dump.h"
#include "harness/run/step_details.h"
#include "harness/run/timing.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

// Faster than twice the copy rate, no memory-bound call can be: reading alone is at most that.
constexpr double kSuspiciousPercent = 200;
// Below this a call is no longer than what starting its threads costs, and the comparison says
// nothing.
constexpr double kSuspiciousLeastBytes = 1 << 20;

// Rounds of a whole network take long: after so many seconds no more begin than these.
constexpr int kLeastRounds = 3;
constexpr double kLongestSeconds = 10;

class ItemRunner {
 public:
  ItemRunner(Item item, const RunOptions& options, int threads, const RunHooks& hooks,
             PhaseTimes& times)
      : options_(options),
        threads_(threads),
        hooks_(hooks),
        times_(times),
        open_(std::move(item), threads, times) {}

  std::vector<Record> run() {
    for (std::size_t i = 0; i < item().runnables.size(); ++i) {
      Attempt attempt;
      attempt.index = i;
      attempt.record = new_record(item(), i, threads_, options_.cold);
      const std::string& refusal = open_.runnable(i).refusal();
      if (!refusal.empty()) attempt.close(Status::skipped, refusal);
      attempts_.push_back(std::move(attempt));
    }
    try {
      run_phases();
    } catch (const std::exception& error) {
      // Nobody's in particular.
      for (Attempt& attempt : attempts_) {
        if (attempt.is_open) attempt.close(Status::errored, error.what());
      }
    }
    return records();
  }

 private:
  const Item& item() const { return open_.item(); }

  void run_phases() {
    if (open_attempts().empty()) return;
    check_memory();
    if (!item().is_context()) measure_copy();
    open_.allocate(open_attempts());
    for_each_open([&](Attempt& attempt) { prepare(attempt); });
    for_each_open([&](Attempt& attempt) { find_loss_scale(attempt); });
    if (options_.verify) {
      for_each_open([&](Attempt& attempt) { verify(attempt); });
    }
    time_all();
    if (options_.verify && item().is_context()) {
      for_each_open([&](Attempt& attempt) {
        report("verify again", attempt);
        take_verdict(attempt, open_.judge_rounds(attempt.index));
      });
    }
    if (hooks_.dump != nullptr) dump_all();
  }

  std::vector<std::size_t> open_attempts() const {
    std::vector<std::size_t> open;
    for (const Attempt& attempt : attempts_) {
      if (attempt.is_open) open.push_back(attempt.index);
    }
    return open;
  }

  // One bad runnable never stops the others.
  template <class Action>
  void for_each_open(Action action) {
    for (Attempt& attempt : attempts_) {
      if (!attempt.is_open || interrupted()) continue;
      try {
        action(attempt);
      } catch (const std::exception& error) {
        attempt.close(Status::errored, error.what());
      }
      if (!attempt.is_open && hooks_.dump == nullptr) open_.release(attempt.index);
    }
  }

  // Variants stand in memory together, steps one after the other.
  void check_memory() {
    if (!item().is_context()) return open_.require_memory(open_attempts(), options_.verify);
    for_each_open([&](Attempt& attempt) {
      open_.require_memory({&attempt.index, 1}, options_.verify);
    });
  }

  // Before the case's own memory is taken, so that both never stand side by side.
  void measure_copy() {
    const PhaseTimer timer(times_.measure);
    const Graph& graph = item().planned_case->graph;
    const auto moved = static_cast<std::size_t>(graph.traffic().bytes());
    // A graph moves some tensors more than once; the copy's buffers hold no more than the case
    // does.
    const CopyRate rate =
        measure_copy_rate(std::min(moved, graph.memory_bytes()), threads_,
                          {options_.seconds_per_case, options_.repetitions, {}}, options_.cold);
    fastest_copy_gb_per_s_ = rate.best / 1e9;
    for (Attempt& attempt : attempts_) attempt.record.copy_gb_per_s = rate.median / 1e9;
  }

  void prepare(Attempt& attempt) {
    report("prepare", attempt);
    attempt.values = {item().seed};
    attempt.is_in_memory = true;
    open_.prepare(attempt.index);
    attempt.record.status = Status::unverified;
  }

  void find_loss_scale(Attempt& attempt) {
    if (!open_.runnable(attempt.index).scales_loss()) return;
    report("scale the loss of", attempt);
    const LossScaling found = open_.find_loss_scale(attempt.index);
    attempt.measured.has_overflow = found.has_overflow;
    attempt.measured.skipped_updates = found.skipped_updates;
  }

  void verify(Attempt& attempt) {
    report("verify", attempt);
    attempt.values = {item().seed, true};
    take_verdict(attempt, open_.verify(attempt.index, item().seed));
  }

  static void take_verdict(Attempt& attempt, const Verification& found) {
    keep_worst(attempt.record.accuracy, found.stats);
    if (!found.formula.empty()) attempt.record.formula = found.formula;
    const Judgement& judged = found.judgement;
    if (judged.verdict == Verdict::failed) return attempt.close(Status::failed, judged.reason);
    if (attempt.record.status == Status::mistrusted) return;
    attempt.record.status =
        judged.verdict == Verdict::mistrusted ? Status::mistrusted : Status::passed;
    if (!judged.reason.empty()) attempt.record.reason = judged.reason;
  }

  void time_all() {
    if (!item().is_context()) {
      return for_each_open([&](Attempt& attempt) { time(attempt, options_.repetitions); });
    }
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    for (rounds_ = 0; rounds_ < options_.repetitions && !interrupted(); ++rounds_) {
      const std::chrono::duration<double> spent = Clock::now() - start;
      if (rounds_ >= kLeastRounds && spent.count() > kLongestSeconds) break;
      for_each_open([&](Attempt& attempt) { time(attempt, 1); });
    }
  }

  // Adds `repetitions` samples; none if interrupted. On values that nothing has seen: what a kernel
  // kept from the verification is wrong now.
  void time(Attempt& attempt, int repetitions) {
    report("time", attempt);
    TimingOptions how{
        options_.seconds_per_case * repetitions / options_.repetitions, repetitions, {}, nullptr};
    if (options_.cold) how.evict = [&] { open_.evict(attempt.index); };
    attempt.values = {item().seed + 1};
    if (options_.verify)
      how.watch = &open_.begin_timing(attempt.index, attempt.values.seed);
    else
      open_.load(attempt.index, attempt.values);
    std::vector<Sample> samples;
    {
      const PhaseTimer timer(times_.measure);
      with_threads(threads_, [&] { samples = take_samples(attempt, how); });
    }
    attempt.samples.insert(attempt.samples.end(), samples.begin(), samples.end());
    const bool is_judged = options_.verify && !interrupted();
    if (is_judged) take_verdict(attempt, open_.end_timing(attempt.index));
  }

  // Tasks have times of their own in contexts only: a clock between two calls is not free.
  std::vector<Sample> take_samples(Attempt& attempt, const TimingOptions& how) const {
    const BoundGraph& bound = open_.bound(attempt.index);
    if (!item().is_context()) return time_calls(item().id, how, [&] { bound.run(); });
    NodeTimes nodes;
    nodes.reset(bound.size());
    std::vector<Sample> samples = time_calls(item().id, how, [&] { bound.run(nodes); });
    if (samples.empty()) return samples;
    for (double& us : nodes.us) us /= static_cast<double>(nodes.runs);
    attempt.rounds.push_back(std::move(nodes.us));
    return samples;
  }

  // Those that passed with the case's own values, the others with those that showed the fault.
  void dump_all() {
    for (Attempt& attempt : attempts_) {
      if (!attempt.is_in_memory || interrupted()) continue;
      report("dump", attempt);
      if (attempt.is_open) attempt.values = {item().seed};
      try {
        open_.load(attempt.index, attempt.values);
        const PhaseTimer timer(times_.dump);
        dump_runnable(*hooks_.dump, open_, attempt.index, attempt.values, attempt.record);
      } catch (const std::exception& error) {
        // Another reason is none for what has failed before.
        if (attempt.is_open) attempt.close(Status::errored, error.what());
      }
    }
  }

  // What an interrupt left with fewer samples than were asked for is no result.
  bool is_short(const Attempt& attempt) const {
    const int wanted = item().is_context() ? std::max(rounds_, 1) : options_.repetitions;
    return std::ssize(attempt.samples) < wanted;
  }

  std::vector<Record> records() {
    std::vector<Record> records;
    for (Attempt& attempt : attempts_) {
      if (interrupted() && attempt.is_open && is_short(attempt)) {
        // A context's record stays, since others are compared with it by its place.
        if (!item().is_context()) continue;
        attempt.close(Status::errored, "interrupted");
      }
      set_times(attempt.record, std::move(attempt.samples));
      if (item().is_context()) {
        attempt.measured.task_us = task_medians(attempt.rounds);
        attempt.record.step = step_details(*item().context, attempt.index, attempt.measured);
      } else {
        mark_suspicious(attempt.record);
      }
      records.push_back(std::move(attempt.record));
    }
    if (item().is_context())
      compare_steps(*item().context, records);
    else
      compare_variants(records);
    return records;
  }

  // Against the fastest copy seen: a disturbed one must not throw suspicion on everything after it.
  void mark_suspicious(Record& record) const {
    if (!record.times || record.status != Status::passed) return;
    const double percent = 100 * record.times->gb_per_s / std::max(fastest_copy_gb_per_s_, 1e-9);
    if (record.bytes >= kSuspiciousLeastBytes && percent > kSuspiciousPercent) {
      record.status = Status::suspicious;
      record.reason = fmt::format("{:.0f}% of the fastest copy; no more than {:.0f}% can be real",
                                  percent, kSuspiciousPercent);
    }
  }

  void report(std::string_view what, const Attempt& attempt) const {
    if (!hooks_.activity) return;
    hooks_.activity(fmt::format("{} {} {}, {} thread{}", item().id, what, attempt.record.variant,
                                threads_, threads_ == 1 ? "" : "s"));
  }

  const RunOptions& options_;
  const int threads_;
  const RunHooks& hooks_;
  PhaseTimes& times_;
  OpenItem open_;
  std::vector<Attempt> attempts_;
  int rounds_ = 0;  // begun, all but the last complete
  double fastest_copy_gb_per_s_ = 0;
};

}  // namespace

std::vector<Record> run_item(Item item, const RunOptions& options, int threads,
                             const RunHooks& hooks, PhaseTimes& times) {
  return ItemRunner(std::move(item), options, threads, hooks, times).run();
}

}  // namespace opbench
