#include "harness/context_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include "harness/interrupt.h"
#include "harness/memory.h"
#include "harness/phase_timer.h"
#include "harness/precision.h"
#include "harness/step_check.h"
#include "harness/step_record.h"
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
  std::vector<std::vector<double>> rounds;  ///< microseconds of each node, by round
  bool is_open = true;

  void close(Status status, std::string reason) {
    record.status = status;
    record.reason = std::move(reason);
    record.samples.clear();
    rounds.clear();
    bound.reset();
    is_open = false;
  }
};

using Clock = std::chrono::steady_clock;

// Rounds of a whole network take long: after so many seconds no more begin than these.
constexpr int kLeastRounds = 3;
constexpr double kLongestSeconds = 15;

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
    if (!std::any_of(runs_.begin(), runs_.end(), [](const StepRun& r) { return r.is_open; }))
      return;
    check_memory();
    {
      const PhaseTimer timer(times_.allocate);
      memory_.emplace(planned_.largest_step_bytes());
    }
    for_each_open([&](StepRun& run) { prepare(run); });
    for_each_open([&](StepRun& run) { find_loss_scale(run); });
    if (options_.verify) for_each_open([&](StepRun& run) { verify(run); });
    const Clock::time_point start = Clock::now();
    for (rounds_ = 0; rounds_ < options_.repetitions && !interrupted(); ++rounds_) {
      const std::chrono::duration<double> spent = Clock::now() - start;
      if (rounds_ >= kLeastRounds && spent.count() > kLongestSeconds) break;
      for_each_open([&](StepRun& run) { time(run); });
    }
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

  void check_memory() const {
    std::size_t needed = planned_.largest_step_bytes();
    std::size_t results = 0, scratch = 0;
    with_threads(threads_, [&] {
      for (const StepRun& run : runs_) {
        if (!run.is_open) continue;
        scratch = std::max(scratch, largest_temporary_bytes(*run.step));
        std::size_t own = 0;
        for (const std::size_t tensor : run.step->results) {
          const TensorDesc& desc = run.step->graph.tensors[tensor].desc;
          own += static_cast<std::size_t>(desc.elements()) * sizeof(float);
        }
        results = std::max(results, own);
      }
    });
    needed += scratch;
    // Those of the first step and of the one that is compared with it.
    if (options_.verify) needed += 2 * results;
    require_memory(needed,
                   "take a smaller batch (--set N=...), fewer steps (--variant), or leave "
                   "the comparison of results out (--no-verify)");
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
    load(run, planned_.seed());
    const PhaseTimer timer(times_.verify);
    const std::uint64_t before = memory_->given_checksum(*run.step);
    const StepCheck found = checker_.check(*run.step, *memory_, *run.bound);
    keep_stats(run.record, found.stats);
    if (found.judgement.verdict == Verdict::failed) {
      return run.close(Status::failed, found.judgement.reason);
    }
    if (memory_->given_checksum(*run.step) != before) {
      return run.close(Status::failed, "changed what it was given");
    }
    compare_with_first(run);
  }

  static void keep_stats(Record& record, const Stats& stats) {
    record.is_compared = stats.count > 0;
    if (!record.is_compared) return;
    record.max_ulp = stats.max_ulp;
    record.mean_ulp = stats.mean_ulp();
    record.max_abs = stats.max_abs;
    record.inside_share = stats.inside_share();
    record.min_tolerance = stats.min_tolerance;
    record.nonfinite_mismatches = stats.nonfinite_mismatches;
  }

  // With the first step whose graph has the same shapes.
  void compare_with_first(StepRun& run) {
    run.record.status = Status::passed;
    // A skipped update leaves its results as they were.
    if (run.measured.has_overflow) return;
    std::vector<StepResult> results = collect_results(*run.step, memory_->storage_of(*run.step));
    std::erase_if(results, [](const StepResult& r) { return r.name == kOverflowFlag; });
    const auto alike = [&](const First& first) {
      return std::equal(first.results.begin(), first.results.end(), results.begin(), results.end(),
                        [](const StepResult& a, const StepResult& b) {
                          return a.name == b.name && a.desc.shape == b.desc.shape;
                        });
    };
    const auto first = std::find_if(firsts_.begin(), firsts_.end(), alike);
    if (first == firsts_.end()) {
      firsts_.push_back({run.step->spec.name, std::move(results)});
      return;
    }
    const Judgement judged = compare_results(results, first->results, run.step->spec.standard);
    if (judged.verdict == Verdict::failed) {
      run.close(Status::failed,
                fmt::format("other than step '{}': {}", first->step, judged.reason));
    }
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
    run.record.samples.push_back(samples.front());
    for (double& us : nodes.us) us /= static_cast<double>(nodes.runs);
    run.rounds.push_back(std::move(nodes.us));
  }

  // The median of each node over the rounds.
  static std::vector<double> task_medians(const StepRun& run) {
    std::vector<double> medians;
    if (run.rounds.empty()) return medians;
    for (std::size_t node = 0; node < run.rounds.front().size(); ++node) {
      std::vector<double> times;
      for (const std::vector<double>& round : run.rounds) times.push_back(round[node]);
      medians.push_back(median_of(std::move(times)));
    }
    return medians;
  }

  std::vector<Record> records() {
    std::vector<Record> records;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      StepRun& run = runs_[i];
      // What an interrupt left with fewer samples than were asked for is no result.
      const bool is_short = rounds_ == 0 || std::ssize(run.record.samples) < rounds_;
      if (interrupted() && run.is_open && is_short) run.close(Status::errored, "interrupted");
      summarise_samples(run.record);
      run.measured.task_us = task_medians(run);
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

  /// Results that later steps are compared with.
  struct First {
    std::string step;
    std::vector<StepResult> results;
  };

  PlannedContext planned_;  // a copy: a dynamic loss scale plans steps anew
  const RunOptions& options_;
  const int threads_;
  const RunHooks& hooks_;
  PhaseTimes& times_;
  std::vector<StepRun> runs_;
  int rounds_ = 0;  // begun, all but the last complete
  std::optional<ContextMemory> memory_;
  ScratchPool scratch_;  // of the kernels of all steps: one node runs at a time
  StepChecker checker_;
  std::vector<First> firsts_;
};

}  // namespace

std::vector<Record> run_context(const PlannedContext& planned, const RunOptions& options,
                                int threads, const RunHooks& hooks, PhaseTimes& times) {
  return ContextRunner(planned, options, threads, hooks, times).run();
}

}  // namespace opbench
