#include "harness/run/unit_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "harness/run/attempt.h"
#include "harness/run/attempt_timing.h"
#include "harness/run/crash_message.h"
#include "harness/run/machine_rates.h"
#include "harness/run/new_record.h"
#include "harness/run/open_unit.h"
#include "harness/run/run_dump.h"
#include "harness/run/run_result.h"
#include "harness/run/step_measurement.h"
#include "kernels/foreign/foreign_kernels.h"
#include "kernels/kernel.h"
#include "tensor/parallel.h"
#include "text/fitted.h"
#include "workers/elapsed.h"
#include "workers/interrupt.h"
#include "workers/measuring_turn.h"

namespace opbench {
namespace {

class UnitRunner {
 public:
  UnitRunner(const WorkUnit& unit, const RunOptions& options, int threads, const RunHooks& hooks,
             PhaseTimes& times)
      : options_(options),
        threads_(threads),
        hooks_(hooks),
        times_(times),
        open_(unit, threads, times,
              {.most_verified = options.most_verified,
               .rule = parse_output_rule(options.standard),
               .copies = options.times ? options.input_copies : 1}),
        timing_(open_, options, threads, hooks, times) {}

  std::vector<Record> run() {
    for (std::size_t i = 0; i < unit().size(); ++i) {
      Attempt attempt;
      attempt.index = i;
      attempt.record = new_record(unit(), i, threads_, options_);
      const std::string& refusal = open_.variant(i).refusal();
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
      // The error belongs to no single variant.
      for (Attempt& attempt : attempts_) {
        if (attempt.is_open) attempt.close(Status::errored, error.what());
      }
    }
    set_what_runs({});
    return records();
  }

 private:
  const WorkUnit& unit() const { return open_.unit(); }

  void run_phases() {
    if (open_attempts().empty()) return;
    check_memory();
    if (options_.times && !unit().is_context()) measure_ceilings();
    open_.allocate(open_attempts());
    for_each_open([&](Attempt& attempt) { prepare(attempt); });
    for_each_open([&](Attempt& attempt) { find_loss_scale(attempt); });
    if (options_.verify) {
      for_each_open([&](Attempt& attempt) { verify(attempt); });
    }
    if (options_.times) time_all();
    if (options_.times && options_.verify && unit().is_context()) {
      for_each_open([&](Attempt& attempt) {
        report("verify again", attempt);
        attempt.take_verdict(open_.judge_rounds(attempt.index));
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

  // An error of one variant does not stop the others.
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

  // All variants of a case are in memory at the same time, the steps of a context one after the
  // other.
  void check_memory() {
    if (!unit().is_context()) return open_.require_memory(open_attempts(), options_.verify);
    for_each_open([&](Attempt& attempt) {
      open_.require_memory({&attempt.index, 1}, options_.verify);
    });
  }

  // Runs before the case's own memory is allocated, so that both are never allocated at the same
  // time.
  void measure_ceilings() {
    const MeasuringTurn turn(hooks_.turns);
    const PhaseTimer timer(times_.measure);
    const Graph& graph = unit().planned_case->graph;
    const CopyRate copy =
        measure_copy_rate(bytes_moved(graph), threads_,
                          {timing_.first_seconds(), options_.repetitions, {}}, options_.cold);
    const double peak = peak_operations_per_second(unit().planned_case->spec.dtype, threads_);
    for (Attempt& attempt : attempts_) {
      Record& record = attempt.record;
      record.copy_gb_per_s = copy.best / 1e9;
      record.copy_way = copy.way;
      if (copy.median > 0) record.copy_spread = copy.best / copy.median - 1;
      record.peak_gflop_per_s = peak / 1e9;
      set_bound(record, copy.is_latency);
      if (attempt.is_open) use_ceilings_of_device(attempt);
    }
  }

  // The ceilings of this processor do not hold for a device.
  void use_ceilings_of_device(Attempt& attempt) {
    const Kernel& kernel = *unit().selection(attempt.index).kernels.front();
    if (!kernel.origin.is_device) return;
    Record& record = attempt.record;
    double rate = 0;
    with_threads(threads_,
                 [&] { rate = device_copy_rate(kernel, static_cast<std::size_t>(record.bytes)); });
    record.copy_gb_per_s = rate / 1e9;
    record.copy_way = rate > 0 ? "copy of the device" : "";
    record.copy_spread = record.peak_gflop_per_s = 0;
    record.bound = Bound::unknown;
  }

  void prepare(Attempt& attempt) {
    report("prepare", attempt);
    attempt.values = {unit().seed};
    attempt.is_in_memory = true;
    open_.prepare(attempt.index);
    attempt.record.status = Status::unverified;
  }

  void find_loss_scale(Attempt& attempt) {
    if (!open_.variant(attempt.index).scales_loss()) return;
    report("scale the loss of", attempt);
    const LossScaling found = open_.find_loss_scale(attempt.index);
    attempt.measured.has_overflow = found.has_overflow;
    attempt.measured.skipped_updates = found.skipped_updates;
  }

  void verify(Attempt& attempt) {
    report("verify", attempt);
    attempt.values = {unit().seed, unit().inputs == nullptr};
    attempt.take_verdict(open_.verify(attempt.index, unit().seed));
    if (unit().is_context() && attempt.is_open) {
      attempt.measured.gradient_error = open_.gradient_error(attempt.index);
    }
  }

  void time_all() {
    if (!unit().is_context()) {
      return for_each_open([&](Attempt& attempt) { time(attempt, options_.repetitions); });
    }
    const auto start = std::chrono::steady_clock::now();
    for (rounds_ = 0;
         timing_.wants_round(attempts_, rounds_, seconds_since(start)) && !interrupted();
         ++rounds_) {
      if (rounds_ > 0) open_.rotate();
      for_each_open([&](Attempt& attempt) { time(attempt, 1); });
    }
  }

  void time(Attempt& attempt, int repetitions) {
    report("time", attempt);
    timing_.take(attempt, repetitions, rounds_);
  }

  // Dumps passed variants with the case's own values, and failed variants with the values that
  // showed the failure.
  void dump_all() {
    for (Attempt& attempt : attempts_) {
      if (!attempt.is_in_memory || interrupted()) continue;
      if (attempt.record.status == Status::skipped) continue;
      if (unit().record && unit().record->variant != attempt.record.variant) continue;
      report("dump", attempt);
      if (attempt.is_open) attempt.values = {unit().seed};
      try {
        if (attempt.is_open)
          open_.load(attempt.index, attempt.values);
        else
          open_.load_failed(attempt.index, attempt.values);
        const PhaseTimer timer(times_.dump);
        dump_variant(hooks_.dump, open_, attempt.index, attempt.values, attempt.record);
      } catch (const std::exception& error) {
        // A failed variant keeps its first reason.
        if (attempt.is_open) attempt.close(Status::errored, error.what());
      }
    }
  }

  // True for a variant that an interrupt left with fewer samples than required.
  bool is_short(const Attempt& attempt) const {
    const int wanted = unit().is_context() ? std::max(rounds_, 1) : options_.repetitions;
    return std::ssize(attempt.samples) < wanted;
  }

  std::vector<Record> records() {
    std::vector<Record> records;
    for (Attempt& attempt : attempts_) {
      if (interrupted() && attempt.is_open && is_short(attempt)) {
        // A context's record stays, because others refer to it by its index.
        if (!unit().is_context()) continue;
        attempt.close(Status::errored, "interrupted");
      }
      set_times(attempt.record, std::move(attempt.samples));
      timing_.add_conditions(attempt);
      if (attempt.record.reason.empty()) add_remarks(attempt);
      if (unit().is_context()) {
        attempt.measured.task_us = task_medians(attempt.rounds);
        attempt.record.step = step_details(*unit().context, attempt.index, attempt.measured);
      } else {
        judge_rates(attempt.record);
        apply_expectation(unit().planned_case->spec, attempt.record);
      }
      records.push_back(std::move(attempt.record));
    }
    if (unit().is_context())
      compare_steps(*unit().context, records);
    else
      compare_variants(records);
    return records;
  }

  void add_remarks(Attempt& attempt) const {
    // A first call that compiles takes from 20 ms to minutes. Page faults and empty caches take
    // less.
    constexpr double kTimes = 10, kLeastUs = 20e3;
    Record& record = attempt.record;
    with_threads(threads_, [&] { record.reason = remarks_on(unit(), attempt.index); });
    if (!record.times) return;
    const auto add = [&](const std::string& remark) {
      record.reason += (record.reason.empty() ? "" : "; ") + remark;
    };
    const Times& times = *record.times;
    if (times.launch_us > 0)
      add(fmt::format("launched in {:.3g} us, not counted", times.launch_us));
    const double first_us = times.warm_up.first_us;
    if (first_us > kTimes * times.median_us && first_us > kLeastUs)
      add(fmt::format("the first call took {:.3g} ms, not counted", first_us / 1e3));
  }

  void report(std::string_view what, const Attempt& attempt) const {
    if (hooks_.begins)
      hooks_.begins(attempt.record.variant);
    else
      set_what_runs(fmt::format("variant '{}' of {}", attempt.record.variant, unit().id));
    if (!hooks_.activity) return;
    hooks_.activity(fmt::format("{} {} {}, {}", unit().id, what, attempt.record.variant,
                                counted(threads_, "thread")));
  }

  const RunOptions& options_;
  const int threads_;
  const RunHooks& hooks_;
  PhaseTimes& times_;
  OpenUnit open_;
  AttemptTiming timing_;
  std::vector<Attempt> attempts_;
  int rounds_ = 0;  // started; all but the last are complete
};

}  // namespace

std::vector<Record> run_work_unit(const WorkUnit& unit, const RunOptions& options, int threads,
                                  const RunHooks& hooks, PhaseTimes& times) {
  return UnitRunner(unit, options, threads, hooks, times).run();
}

}  // namespace opbench
