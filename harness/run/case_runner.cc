#include "harness/run/case_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "harness/plan/selection.h"
#include "harness/run/copy_rate.h"
#include "harness/run/interrupt.h"
#include "harness/run/memory.h"
#include "harness/run/new_record.h"
#include "harness/run/phase_timer.h"
#include "harness/run/verify.h"
#include "tensor/error.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

// Faster than twice the copy rate, no memory-bound call can be: reading alone is at most that.
constexpr double kSuspiciousPercent = 200;
// Below this a call is no longer than what starting its threads costs, and the comparison says
// nothing.
constexpr double kSuspiciousLeastBytes = 1 << 20;

/// One variant on its way through the phases; closed as soon as its status is final.
struct Attempt {
  const Selection* selection;
  Record record;
  std::unique_ptr<BoundGraph> bound;
  bool is_open = true;

  void close(Status status, std::string reason) {
    record.status = status;
    record.reason = std::move(reason);
    record.times.reset();
    bound.reset();
    is_open = false;
  }
};

class CaseRunner {
 public:
  CaseRunner(const PlannedCase& planned, const RunOptions& options, int threads,
             const RunHooks& hooks, PhaseTimes& times)
      : planned_(planned), options_(options), threads_(threads), hooks_(hooks), times_(times) {}

  std::vector<Record> run() {
    for (const Selection& selection : planned_.variants) {
      attempts_.push_back(
          {&selection, new_record(planned_, selection, threads_, options_.cold), nullptr});
      if (!selection.refusal.empty()) attempts_.back().close(Status::skipped, selection.refusal);
    }
    if (has_open()) run_attempts();
    std::vector<Record> records;
    for (Attempt& attempt : attempts_) {
      // What an interrupt left unmeasured is no result.
      if (interrupted() && attempt.is_open && !attempt.record.is_timed()) continue;
      mark_suspicious(attempt.record);
      records.push_back(std::move(attempt.record));
    }
    compare_variants(records);
    return records;
  }

 private:
  bool has_open() const {
    return std::any_of(attempts_.begin(), attempts_.end(),
                       [](const Attempt& attempt) { return attempt.is_open; });
  }

  // The phases in order; an error that is nobody's in particular ends all attempts of the case.
  void run_attempts() {
    try {
      check_memory();
      measure_copy();
      allocate();
      const std::uint64_t seed = seed_of(planned_.spec);
      fill(seed);
      for_each_open([&](Attempt& attempt) { prepare(attempt); });
      if (options_.verify) verify_all(seed);
      for_each_open([&](Attempt& attempt) { time(attempt); });
      for_each_open([&](Attempt& attempt) { dump(attempt); });
      if (options_.verify && has_open() && !interrupted()) verify_again(seed + 1);
    } catch (const std::exception& error) {
      for (Attempt& attempt : attempts_) {
        if (attempt.is_open) attempt.close(Status::errored, error.what());
      }
    }
  }

  // One bad variant never stops the others.
  template <class Action>
  void for_each_open(Action action) {
    for (Attempt& attempt : attempts_) {
      if (!attempt.is_open || interrupted()) continue;
      try {
        action(attempt);
      } catch (const std::exception& error) {
        attempt.close(Status::errored, error.what());
      }
    }
  }

  void check_memory() const {
    std::vector<const Selection*> selections;
    for (const Attempt& attempt : attempts_) {
      if (attempt.is_open) selections.push_back(attempt.selection);
    }
    require_memory(planned_.graph, selections, threads_);
  }

  // Before the case's own memory is taken, so that both never stand side by side.
  void measure_copy() {
    const PhaseTimer timer(times_.measure);
    const auto moved = static_cast<std::size_t>(planned_.graph.traffic().bytes());
    // A graph moves some tensors more than once; the copy's buffers hold no more than the case
    // does.
    const CopyRate rate = measure_copy_rate(std::min(moved, planned_.graph.memory_bytes()),
                                            threads_, timing(), options_.cold);
    fastest_copy_gb_per_s_ = rate.best / 1e9;
    for (Attempt& attempt : attempts_) attempt.record.copy_gb_per_s = rate.median / 1e9;
  }

  void allocate() {
    const PhaseTimer timer(times_.allocate);
    workspace_.emplace(planned_.graph);
  }

  void fill(std::uint64_t seed) {
    const PhaseTimer timer(times_.fill);
    data_ = input_data(planned_.spec, planned_.graph.nodes[0].problem);
    workspace_->fill_inputs(data_, seed);
  }

  void prepare(Attempt& attempt) {
    const PhaseTimer timer(times_.allocate);
    attempt.bound = std::make_unique<BoundGraph>(planned_.graph, attempt.selection->kernels,
                                                 workspace_->storage(), threads_);
    attempt.record.status = Status::unverified;
  }

  void verify_all(std::uint64_t seed) {
    const PhaseTimer timer(times_.verify);
    for_each_open([&](Attempt& attempt) { verify_one(attempt, seed); });
    workspace_->remove_corner_values(data_, seed);
  }

  // On data that no variant has seen: what one kept from the first time would be wrong now.
  void verify_again(std::uint64_t seed) {
    fill(seed);
    const PhaseTimer timer(times_.verify);
    for_each_open([&](Attempt& attempt) { verify_one(attempt, seed); });
  }

  void verify_one(Attempt& attempt, std::uint64_t seed) {
    report("verify", attempt);
    const Verification found =
        verify_with_corners(*workspace_, *attempt.bound, *attempt.selection, data_, seed, threads_);
    keep_worst(attempt.record.accuracy, found.stats);
    if (found.judgement.verdict == Verdict::failed) {
      attempt.close(Status::failed, found.judgement.reason);
      // It may have spoilt the data of the next one.
      workspace_->restore_guards();
      workspace_->fill_inputs(data_, seed);
    } else if (attempt.record.status != Status::mistrusted) {
      attempt.record.status =
          found.judgement.verdict == Verdict::mistrusted ? Status::mistrusted : Status::passed;
      attempt.record.reason = found.judgement.reason;
    }
  }

  void time(Attempt& attempt) {
    report("time", attempt);
    const PhaseTimer timer(times_.measure);
    TimingOptions how = timing();
    if (options_.cold) {
      how.evict = [&] {
        for (std::size_t i = 0; i < planned_.graph.tensors.size(); ++i) {
          evict_from_caches(workspace_->data(i), planned_.graph.tensors[i].desc.bytes());
        }
      };
    }
    with_threads(threads_, [&] {
      set_times(attempt.record,
                time_calls(attempt.record.case_id, how, [&] { attempt.bound->run(); }));
    });
  }

  TimingOptions timing() const { return {options_.seconds_per_case, options_.repetitions, {}}; }

  void dump(Attempt& attempt) {
    if (!hooks_.dump) return;
    const PhaseTimer timer(times_.dump);
    with_threads(threads_, [&] { attempt.bound->run(); });
    hooks_.dump(planned_, *attempt.selection, *workspace_);
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
    if (hooks_.activity) {
      hooks_.activity(fmt::format("{} {} {}, {} thread{}", attempt.record.case_id, what,
                                  attempt.record.variant, threads_, threads_ == 1 ? "" : "s"));
    }
  }

  const PlannedCase& planned_;
  const RunOptions& options_;
  const int threads_;
  const RunHooks& hooks_;
  PhaseTimes& times_;
  double fastest_copy_gb_per_s_ = 0;
  std::vector<Attempt> attempts_;
  std::vector<Distribution> data_;
  std::optional<Workspace> workspace_;
};

}  // namespace

std::vector<Record> run_case(const PlannedCase& planned, const RunOptions& options, int threads,
                             const RunHooks& hooks, PhaseTimes& times) {
  return CaseRunner(planned, options, threads, hooks, times).run();
}

}  // namespace opbench
