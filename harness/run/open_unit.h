#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/run/bound_graph.h"
#include "harness/run/call_watch.h"
#include "harness/run/run_result.h"
#include "harness/run/step_results.h"
#include "harness/run/unit_variant.h"
#include "harness/run/verify.h"
#include "harness/run/workspace.h"

namespace opbench {

/// The values that are in memory while a variant is verified or timed.
struct Values {
  std::uint64_t seed = 0;
  bool has_corners = false;  ///< corner values among them, as `verify` mixes into a case's inputs

  bool operator==(const Values&) const = default;
};

/// What dynamic loss scaling came to.
struct LossScaling {
  bool has_overflow = false;  ///< a gradient was not finite with the last scale
  int skipped_updates = 0;
};

/// A work unit in memory, a case as well as a context, and what can be done with its variants: the
/// one way in which `opbench run` and the workers of `opbench check` run anything. Variants are
/// named by their place in the unit.
///
/// Variants of a case compute one graph on the same data, which is in memory once. Steps of a
/// context have graphs of their own and take turns in the memory of the largest.
///
/// Order: require_memory, allocate, prepare, find_loss_scale, then verify and samples of what is
/// prepared in any order: what a variant needs in memory is put there. To sample one call:
///     open.load(i, {open.unit().seed});
///     with_threads(open.threads(), [&] { sampler.sample_us(); });  // calls open.bound(i).run()
class OpenUnit {
 public:
  struct Options {
    /// Larger outputs are verified on a sample of about so many elements.
    std::int64_t most_verified = std::numeric_limits<std::int64_t>::max();
    OutputRule rule = {};          ///< of rounded outputs
    std::size_t slack = 0;         ///< see `plan_memory`; `move` needs a page of it
    bool checks_overflow = false;  ///< see `UnitVariant`
  };

  /// Plans only; nothing is allocated. Phases are added to `times`, which must outlive it.
  OpenUnit(WorkUnit unit, int threads, PhaseTimes& times, const Options& options);
  OpenUnit(WorkUnit unit, int threads, PhaseTimes& times)
      : OpenUnit(std::move(unit), threads, times, Options()) {}

  /// Its context is a copy, since a dynamic loss scale plans its steps anew.
  const WorkUnit& unit() const { return unit_; }
  int threads() const { return threads_; }
  const UnitVariant& variant(std::size_t i) const { return variants_[i]; }

  /// Errors: throws RunError with both numbers if the variants do not fit: those of a case
  /// with all their temporaries side by side, the largest step of a context, and where `verifies`
  /// the results that steps are held to.
  void require_memory(std::span<const std::size_t> chosen, bool verifies) const;
  /// Errors: throws RunError if the memory is not to be had.
  void allocate(std::span<const std::size_t> chosen);
  bool is_allocated() const { return workspace_.has_value(); }

  /// Binds the kernels to the memory. Errors: whatever a kernel throws.
  void prepare(std::size_t i);
  bool is_prepared(std::size_t i) const { return opened_[i].bound != nullptr; }
  /// Frees what the kernels of a variant hold.
  void release(std::size_t i) { opened_[i].bound.reset(); }

  /// Training halves a dynamic loss scale after every step that overflowed, until one fits; the
  /// step is planned anew with it. Nothing to do for a variant without loss scale.
  LossScaling find_loss_scale(std::size_t i);

  /// Moves all tensors to where `layout` (memory_plan.h) puts them, with the values that are
  /// loaded, for a unit with a page of slack. What is prepared stays so, and a CallWatch that was
  /// restored; what was computed is lost.
  void move(std::uint64_t layout);

  /// Puts a variant's values in place, unless they are there. Recorded inputs have the same values
  /// whatever is wanted. Errors: throws Error if an operator refuses them.
  void load(std::size_t i, const Values& values);

  /// Those that a variant failed on: of a timed call with what it had in place of some of them.
  void load_failed(std::size_t i, const Values& values);

  /// Runs a variant on the values of `seed`, with corner values in the inputs of a case, and
  /// judges every node. On the unit's own seed the results of a step are held to those of the first
  /// step with the same inputs, too. A pass may come with a reason to know of. Errors: whatever a
  /// kernel throws.
  Verification verify(std::size_t i, std::uint64_t seed);

  /// Of a step of a training context that was just verified on the unit's own seed: how far its
  /// gradients are from those in fp32 (Anchors); none after an overflow. Errors: whatever a kernel
  /// throws.
  std::optional<double> gradient_error(std::size_t i);

  /// Puts the values of `seed` in place for calls that are timed, and results of nobody.
  /// `end_timing` must follow, or the next load fills everything anew.
  CallWatch& begin_timing(std::size_t i, std::uint64_t seed);

  /// Judges what the last timed call left of a case, every node, and that nothing which was given
  /// has changed. Of a context the results are noted for `judge_rounds`.
  Verification end_timing(std::size_t i);

  /// Of a context that was timed, after the last round: runs it node by node on the values of the
  /// last timed call and judges every node; the results must be those that the call left. Errors:
  /// whatever a kernel throws.
  Verification judge_rounds(std::size_t i);

  /// Leaves the same bits whenever it is called on the same values: no kernel's sums go by thread.
  bool repeats(std::size_t i) const;

  /// Fingerprint of the outputs that the last run of a variant left, as 16 hexadecimal digits.
  std::string result_bits(std::size_t i) const;

  /// The same of their elements alone, of nodes that ran: what lies between elements, and what a
  /// node that was left out would have written, is of any age.
  std::uint64_t element_bits(std::size_t i) const;

  /// What a sample calls, inside `with_threads`.
  const BoundGraph& bound(std::size_t i) const { return *opened_[i].bound; }
  /// Empties the caches of a variant's tensors, for `--cold`.
  void evict(std::size_t i) const { workspace_->evict(variant(i)); }
  const Workspace& workspace() const { return *workspace_; }

 private:
  /// What is in memory.
  struct Loaded {
    const Graph* graph;
    Values values;
  };
  /// What the last timed call of a context had and left.
  struct LastCall {
    std::uint64_t seed = 0;          ///< of its values
    TimedInputs inputs;              ///< and what was other than these
    std::uint64_t results = 0;       ///< fingerprint
    std::vector<StepResult> values;  ///< where results do not repeat bit for bit
  };
  struct Opened {
    std::unique_ptr<BoundGraph> bound;
    LossScaling scaling;
    LastCall last;
    TimedInputs failed_on;  ///< of a timed call that was found wrong
  };
  /// While calls are timed.
  struct Timing {
    Loaded values;
    std::uint64_t given = 0;  ///< fingerprint
    CallWatch watch;
  };

  void replan(std::size_t i, double loss_scale);
  bool overflowed(std::size_t i) const;
  void hold_to_first(std::size_t i, Verification& found);
  FindRounding finds_rounding(std::size_t i) const;
  Verification judge_timed(std::size_t i);
  bool repeats_timed(std::size_t i);
  void note_results(std::size_t i);

  WorkUnit unit_;
  int threads_;
  PhaseTimes& times_;
  std::unique_ptr<MemoryPlan> case_memory_;
  std::vector<UnitVariant> variants_;
  std::vector<Opened> opened_;
  std::optional<Workspace> workspace_;
  std::optional<Loaded> loaded_;
  std::optional<Timing> timing_;
  VerifyRules rules_;
  ScratchPool scratch_;  // of the kernels of all steps: one node runs at a time
  std::map<std::uint64_t, Verifier> verifiers_;  // by seed
  FirstResults firsts_;
  Anchors anchors_;
};

}  // namespace opbench
