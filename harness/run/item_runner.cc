#include "harness/run/item_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "harness/run/attempt.h"
#include "harness/run/crash_message.h"
#include "harness/run/item_record.h"
#include "harness/run/machine_rates.h"
#include "harness/run/measuring_turn.h"
#include "harness/run/open_item.h"
#include "harness/run/run_dump.h"
#include "harness/run/run_result.h"
#include "harness/run/step_measurement.h"
#include "harness/run/timing.h"
#include "kernels/kernel.h"
#include "tensor/parallel.h"
#include "workers/interrupt.h"

namespace opbench {
namespace {

// Rounds of a whole network take long: after so many seconds no more begin than these.
constexpr int kLeastRounds = 3;
constexpr double kLongestSeconds = 10;

// A graph moves some tensors more than once; the copy's memory holds no more than the case does.
BytesMoved bytes_moved(const Graph& graph) {
  const Traffic traffic = graph.traffic();
  const double held = static_cast<double>(graph.memory_bytes());
  const double share = std::min(1.0, held / std::max(traffic.bytes(), 1.0));
  return {static_cast<std::size_t>(share * traffic.bytes_read),
          static_cast<std::size_t>(share * traffic.bytes_written)};
}

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
      const auto crashed = hooks_.crashed.find(attempt.record.variant);
      if (!refusal.empty())
        attempt.close(Status::skipped, refusal);
      else if (crashed != hooks_.crashed.end())
        attempt.close(Status::errored, crashed->second);
      attempts_.push_back(std::move(attempt));
    }
    try {
      const ComputingTurn turn(hooks_.turns);
      run_phases();
    } catch (const std::exception& error) {
      // Nobody's in particular.
      for (Attempt& attempt : attempts_) {
        if (attempt.is_open) attempt.close(Status::errored, error.what());
      }
    }
    set_what_runs({});
    return records();
  }

 private:
  const Item& item() const { return open_.item(); }

  void run_phases() {
    if (open_attempts().empty()) return;
    check_memory();
    if (options_.times && !item().is_context()) measure_ceilings();
    open_.allocate(open_attempts());
    for_each_open([&](Attempt& attempt) { prepare(attempt); });
    for_each_open([&](Attempt& attempt) { find_loss_scale(attempt); });
    if (options_.verify) {
      for_each_open([&](Attempt& attempt) { verify(attempt); });
    }
    if (options_.times) time_all();
    if (options_.times && options_.verify && item().is_context()) {
      for_each_open([&](Attempt& attempt) {
        report("verify again", attempt);
        take_verdict(attempt, open_.judge_rounds(attempt.index));
      });
    }
    if (hooks_.dump.is_any()) dump_all();
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
      } catch (const RefusedValues& refusal) {
        attempt.close(Status::skipped, refusal.what());
      } catch (const std::exception& error) {
        attempt.close(Status::errored, error.what());
      }
      if (!attempt.is_open && !hooks_.dump.is_any()) open_.release(attempt.index);
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
  void measure_ceilings() {
    const MeasuringTurn turn(hooks_.turns);
    const PhaseTimer timer(times_.measure);
    const Graph& graph = item().planned_case->graph;
    const CopyRate copy =
        measure_copy_rate(bytes_moved(graph), threads_,
                          {options_.seconds_per_case, options_.repetitions, {}}, options_.cold);
    const double peak = peak_operations_per_second(item().planned_case->spec.dtype, threads_);
    for (Attempt& attempt : attempts_) {
      Record& record = attempt.record;
      record.copy_gb_per_s = copy.best / 1e9;
      record.copy_way = copy.way;
      if (copy.median > 0) record.copy_spread = copy.best / copy.median - 1;
      record.peak_gflop_per_s = peak / 1e9;
      set_bound(record, copy.is_latency);
    }
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
    attempt.values = {item().seed, item().inputs == nullptr};
    take_verdict(attempt, open_.verify(attempt.index, item().seed));
    if (item().is_context() && attempt.is_open) {
      attempt.measured.gradient_error = open_.gradient_error(attempt.index);
    }
  }

  static void take_verdict(Attempt& attempt, const Verification& found) {
    keep_worst(attempt.record.accuracy, found.stats, found.elements);
    if (!found.formula.empty()) attempt.record.formula = found.formula;
    const Judgement& judged = found.judgement;
    if (judged.verdict == Verdict::failed) return attempt.close(Status::failed, judged.reason);
    if (!found.known_limit.empty()) {
      // On recorded values it is a fault of what was recorded, known or not.
      const bool is_ours = attempt.values.has_corners;
      return attempt.close(is_ours ? Status::xfailed : Status::failed, found.known_limit);
    }
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
    // A context is timed in rounds, each of which has values of its own.
    attempt.values = {item().seed + 1 + static_cast<std::uint64_t>(rounds_)};
    if (options_.verify)
      how.watch = &open_.begin_timing(attempt.index, attempt.values.seed);
    else
      open_.load(attempt.index, attempt.values);
    std::vector<Sample> samples;
    {
      const MeasuringTurn turn(hooks_.turns);
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
      if (attempt.record.status == Status::skipped) continue;
      if (item().record && item().record->variant != attempt.record.variant) continue;
      report("dump", attempt);
      if (attempt.is_open) attempt.values = {item().seed};
      try {
        if (attempt.is_open)
          open_.load(attempt.index, attempt.values);
        else
          open_.load_failed(attempt.index, attempt.values);
        const PhaseTimer timer(times_.dump);
        dump_runnable(hooks_.dump, open_, attempt.index, attempt.values, attempt.record);
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
        judge_rates(attempt.record);
        apply_expectation(item().planned_case->spec, attempt.record);
      }
      records.push_back(std::move(attempt.record));
    }
    if (item().is_context())
      compare_steps(*item().context, records);
    else
      compare_variants(records);
    return records;
  }

  void report(std::string_view what, const Attempt& attempt) const {
    if (hooks_.begins)
      hooks_.begins(attempt.record.variant);
    else
      set_what_runs(fmt::format("variant '{}' of {}", attempt.record.variant, item().id));
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
};

}  // namespace

std::vector<Record> run_item(Item item, const RunOptions& options, int threads,
                             const RunHooks& hooks, PhaseTimes& times) {
  return ItemRunner(std::move(item), options, threads, hooks, times).run();
}

}  // namespace opbench
