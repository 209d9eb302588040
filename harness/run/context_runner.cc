#include "harness/run/context_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include "harness/plan/precision.h"
#include "harness/run/first_results.h"
#include "harness/run/interrupt.h"
#include "harness/run/memory.h"
#include "harness/run/phase_timer.h"
#include "harness/run/step_check.h"
#include "harness/run/step_record.h"
#include "harness/run/timing.h"
#include "tensor/error.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

/// A step on its way through the phases; closed as soon as its status is final.
struct StepRun {
  PlannedStep* step = nullptr;
  Record record;
  std::unique_ptr<BoundGraph> bound;
  StepMeasurement measured;
  std::vector<Sample> samples;              ///< one of each round
  std::vector<std::vector<double>> rounds;  ///< microseconds of each node, by round
  bool is_open = true;

  void close(Status status, std::string reason) {
    record.status = status;
    record.reason = std::move(reason);
    samples.clear();
    rounds.clear();
    bound.reset();
    is_open = false;
  }
};

using Clock = std::chrono::steady_clock;

// Rounds of a whole network take long: after so many seconds no more begin than these.
constexpr int kLeastRounds = 3;
constexpr double kLongestSeconds = 10;

class ContextRunner {
 public:
  ContextRunner(const PlannedContext& planned, const RunOptions& options, int threads,
                const RunHooks& hooks, PhaseTimes& times)
      : planned_(planned), options_(options), threads_(threads), hooks_(hooks), times_(times) {}

  std::vector<Record> run() {
    for (std::size_t i = 0; i < planned_.steps.size(); ++i) {
      StepRun run;
      run.step = &planned_.steps[i];
      run.record = step_record(planned_, i, threads_, options_.cold);
      if (!run.step->refusal().empty()) run.close(Status::skipped, run.step->refusal());
      runs_.push_back(std::move(run));
    }
    try {
      run_steps();
    } catch (const std::exception& error) {
      for (StepRun& run : runs_) {
        if (run.is_open) run.close(Status::errored, error.what());
      }
    }
    return records();
  }

 private:
  void run_steps() {
    for_each_open([&](StepRun& run) { check_memory(*run.step); });
    allocate();
    for_each_open([&](StepRun& run) { prepare(run); });
    for_each_open([&](StepRun& run) { find_loss_scale(run); });
    if (options_.verify) for_each_open([&](StepRun& run) { verify(run); });
    const Clock::time_point start = Clock::now();
    for (rounds_ = 0; rounds_ < options_.repetitions && !interrupted(); ++rounds_) {
      const std::chrono::duration<double> spent = Clock::now() - start;
      if (rounds_ >= kLeastRounds && spent.count() > kLongestSeconds) break;
      for_each_open([&](StepRun& run) { time(run); });
    }
    if (options_.verify) for_each_open([&](StepRun& run) { verify_again(run); });
  }

  // One bad step never stops the others.
  template <class Action>
  void for_each_open(Action action) {
    for (StepRun& run : runs_) {
      if (!run.is_open || interrupted()) continue;
      try {
        with_threads(threads_, [&] { action(run); });
      } catch (const std::exception& error) {
        run.close(Status::errored, error.what());
      }
    }
  }

  // Errors: throws RunError if the step does not fit.
  void check_memory(const PlannedStep& step) const {
    std::size_t results = 0;
    for (const std::size_t tensor : step.results) {
      const auto elements = step.graph.tensors[tensor].desc.elements();
      results += static_cast<std::size_t>(elements) * sizeof(float);
    }
    // The first step's results, those that are held to them, and the pairs in between.
    const std::size_t compared = options_.verify ? 3 * results : 0;
    require_memory(step.memory.bytes + largest_temporary_bytes(step) + compared,
                   "take a smaller batch (--set N=...), or leave the comparison of results out "
                   "(--no-verify)");
  }

  // All open steps take turns in it.
  void allocate() {
    const PhaseTimer timer(times_.allocate);
    std::size_t largest = 0;
    for (const StepRun& run : runs_) {
      if (run.is_open) largest = std::max(largest, run.step->memory.bytes);
    }
    memory_.emplace(largest);
  }

  static std::size_t largest_temporary_bytes(const PlannedStep& step) {
    std::size_t largest = 0;
    for (std::size_t i = 0; i < step.graph.nodes.size(); ++i) {
      largest = std::max(largest,
                         temporary_bytes(*step.selection.kernels[i], step.graph.nodes[i].problem));
    }
    return largest;
  }

  void prepare(StepRun& run) {
    report("prepare", run);
    const PhaseTimer timer(times_.allocate);
    const bool saturates = run.step->spec.precision.half == Precision::Half::saturate;
    run.bound = std::make_unique<BoundGraph>(run.step->graph, run.step->selection.kernels,
                                             memory_->storage_of(*run.step), threads_, saturates,
                                             &scratch_);
    run.record.status = Status::unverified;
  }

  void load(StepRun& run, std::uint64_t seed) {
    const PhaseTimer timer(times_.fill);
    memory_->load(*run.step, seed);
  }

  bool overflowed(const StepRun& run) const {
    const TensorStorage storage = memory_->storage_of(*run.step);
    for (const std::size_t tensor : run.step->results) {
      if (run.step->graph.tensors[tensor].name != kOverflowFlag) continue;
      return *static_cast<const float*>(storage(tensor)) != 0;
    }
    return false;
  }

  // Training halves a dynamic scale after every step that overflowed, until one fits.
  void find_loss_scale(StepRun& run) {
    if (run.step->spec.precision.scaling == Precision::Scaling::none) return;
    report("scale the loss of", run);
    while (true) {
      load(run, planned_.seed());
      {
        const PhaseTimer timer(times_.verify);
        run.bound->run();
      }
      run.measured.has_overflow = overflowed(run);
      if (!run.measured.has_overflow) return;
      ++run.measured.skipped_updates;
      Precision& precision = run.step->spec.precision;
      if (precision.scaling == Precision::Scaling::fixed || precision.loss_scale <= 1) return;
      ContextStep halved = run.step->spec;
      halved.precision.loss_scale /= 2;
      *run.step = plan_step(planned_.spec, halved, planned_.dtype);
      prepare(run);
    }
  }

  void verify(StepRun& run) {
    report("verify", run);
    const StepCheck found = check(run, planned_.seed(), checker_);
    keep_worst(run.record.accuracy, found.stats);
    if (!run.is_open) return;
    run.record.status = Status::passed;
    const Judgement judged =
        firsts_.hold(*run.step, memory_->storage_of(*run.step), found, run.measured.has_overflow);
    run.record.reason = judged.reason;
    if (judged.reason.empty() && run.bound->has_saturated()) {
      run.record.reason = "fp16 values saturated";
    }
    if (judged.verdict == Verdict::failed) run.close(Status::failed, judged.reason);
  }

  // A kernel that hands out what it once computed is right until the values change.
  void verify_again(StepRun& run) {
    report("verify again", run);
    check(run, planned_.seed() + 1, fresh_checker_);
  }

  // Closes the run if it is wrong on the values of `seed`.
  StepCheck check(StepRun& run, std::uint64_t seed, StepChecker& checker) {
    load(run, seed);
    const PhaseTimer timer(times_.verify);
    const std::uint64_t before = memory_->given_checksum(*run.step);
    StepCheck found = checker.check(*run.step, *memory_, *run.bound);
    if (found.judgement.verdict == Verdict::failed) {
      run.close(Status::failed, found.judgement.reason);
    } else if (memory_->given_checksum(*run.step) != before) {
      run.close(Status::failed, "changed what it was given");
    }
    return found;
  }

  void time(StepRun& run) {
    report("time", run);
    load(run, planned_.seed());
    const PhaseTimer timer(times_.measure);
    NodeTimes nodes;
    nodes.reset(run.bound->size());
    TimingOptions how{options_.seconds_per_case / options_.repetitions, 1, {}};
    if (options_.cold) how.evict = [this] { memory_->evict(); };
    const std::vector<Sample> samples =
        time_calls(run.record.case_id, how, [&] { run.bound->run(nodes); });
    if (samples.empty()) return;  // interrupted
    run.samples.push_back(samples.front());
    for (double& us : nodes.us) us /= static_cast<double>(nodes.runs);
    run.rounds.push_back(std::move(nodes.us));
  }

  std::vector<Record> records() {
    std::vector<Record> records;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      StepRun& run = runs_[i];
      // What an interrupt left with fewer samples than were asked for is no result.
      const bool is_short = rounds_ == 0 || std::ssize(run.samples) < rounds_;
      if (interrupted() && run.is_open && is_short) run.close(Status::errored, "interrupted");
      set_times(run.record, std::move(run.samples));
      run.measured.task_us = task_medians(run.rounds);
      run.record.step = step_details(planned_, i, run.measured);
      records.push_back(std::move(run.record));
    }
    compare_steps(planned_, records);
    return records;
  }

  void report(std::string_view what, const StepRun& run) const {
    if (!hooks_.activity) return;
    hooks_.activity(fmt::format("{} {} {}, {} thread{}", planned_.id(), what, run.step->spec.name,
                                threads_, threads_ == 1 ? "" : "s"));
  }

  PlannedContext planned_;  // a copy: a dynamic loss scale plans steps anew
  const RunOptions& options_;
  const int threads_;
  const RunHooks& hooks_;
  PhaseTimes& times_;
  std::vector<StepRun> runs_;
  int rounds_ = 0;  // begun, all but the last complete
  std::optional<ContextMemory> memory_;
  ScratchPool scratch_;  // of the kernels of all steps: one node runs at a time
  StepChecker checker_{1};
  StepChecker fresh_checker_{1};
  FirstResults firsts_;
};

}  // namespace

std::vector<Record> run_context(const PlannedContext& planned, const RunOptions& options,
                                int threads, const RunHooks& hooks, PhaseTimes& times) {
  return ContextRunner(planned, options, threads, hooks, times).run();
}

}  // namespace opbench
