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

/// Values in memory while a variant is verified or timed.
struct Values {
  std::uint64_t seed = 0;
  bool has_corners = false;  ///< with corner values, which `verify` mixes into a case's inputs

  bool operator==(const Values&) const = default;
};

/// Result of dynamic loss scaling.
struct LossScaling {
  bool has_overflow = false;  ///< a gradient was not finite with the last scale
  int skipped_updates = 0;
};

/// A work unit in memory (a case or a context), and the operations on its variants. `opbench run`
/// and the workers of `opbench check` execute all variants through this class. Variants are given
/// by their index in the unit.
///
/// Variants of a case compute one graph on the same data, which is in memory once. Steps of a
/// context have graphs of their own and share the memory of the largest in turn.
///
/// Order: require_memory, allocate, prepare, find_loss_scale; then verify and samples of prepared
/// variants in any order. Each operation loads the data that the variant needs. To sample one call:
///     open.load(i, {open.unit().seed});
///     with_threads(open.threads(), [&] { sampler.sample_us(); });  // calls open.bound(i).run()
class OpenUnit {
 public:
  struct Options {
    /// Larger outputs are verified on a sample of about this many elements.
    std::int64_t most_verified = std::numeric_limits<std::int64_t>::max();
    OutputRule rule = {};          ///< of rounded outputs
    std::size_t slack = 0;         ///< as in `plan_memory`; `move` needs a page of it
    bool checks_overflow = false;  ///< as in `UnitVariant`
    int copies = 1;                ///< of the memory of all tensors, for `rotate`
  };

  /// Plans only and allocates nothing. Adds the times of its phases to `times`, which must outlive
  /// it.
  OpenUnit(WorkUnit unit, int threads, PhaseTimes& times, const Options& options);
  OpenUnit(WorkUnit unit, int threads, PhaseTimes& times)
      : OpenUnit(std::move(unit), threads, times, Options()) {}

  /// The context of this unit is a copy, because a dynamic loss scale plans its steps again.
  const WorkUnit& unit() const { return unit_; }
  int threads() const { return threads_; }
  const UnitVariant& variant(std::size_t i) const { return variants_[i]; }

  /// Errors: throws RunError with both numbers if the variants do not fit: those of a case with all
  /// their temporaries, the largest step of a context, and with `verifies` the results that steps
  /// are compared with.
  void require_memory(std::span<const std::size_t> chosen, bool verifies) const;
  /// Errors: throws RunError if the memory is not available.
  void allocate(std::span<const std::size_t> chosen);
  bool is_allocated() const { return workspace_.has_value(); }

  /// Binds the kernels to the memory.
  /// Errors: throws the errors of the kernels.
  void prepare(std::size_t i);
  bool is_prepared(std::size_t i) const { return opened_[i].bound != nullptr; }
  /// Frees the memory of a variant's kernels.
  void release(std::size_t i) { opened_[i].bound.reset(); }

  /// Finds the loss scale of a step. Like training, it halves a dynamic loss scale after every step
  /// that overflowed, until a step does not overflow. The step is planned again with it. Does
  /// nothing for a variant without a loss scale.
  LossScaling find_loss_scale(std::size_t i);

  /// Moves all tensors to the places of `layout` (memory_plan.h), with the loaded values. The unit
  /// must have a page of slack. Prepared variants stay prepared, and a restored CallWatch stays
  /// valid. Computed values are lost.
  void move(std::uint64_t layout);

  /// Moves all tensors to the next copy of the memory, also while a variant is timed. Poisons the
  /// results of a case there. Does nothing with a single copy.
  void rotate();

  /// Loads a variant's values, unless they are present. Recorded inputs have the same values for
  /// all `values`.
  /// Errors: throws Error if an operator refuses them.
  void load(std::size_t i, const Values& values);

  /// Loads the values on which a variant failed. For a timed call they include its changes.
  void load_failed(std::size_t i, const Values& values);

  /// Runs a variant on the values of `seed`, with corner values in the inputs of a case, and judges
  /// every node. On the unit's own seed the results of a step are also compared with those of the
  /// first step with the same inputs. A pass may have a reason that is worth reporting.
  /// Errors: throws the errors of the kernels.
  Verification verify(std::size_t i, std::uint64_t seed);

  /// Distance of a step's gradients from those in fp32 (Anchors). The step belongs to a training
  /// context and was just verified on the unit's own seed. None after an overflow.
  /// Errors: throws the errors of the kernels.
  std::optional<double> gradient_error(std::size_t i);

  /// Loads the values of `seed` for timed calls, and poisons the results. `end_timing` must follow,
  /// or the next load fills everything again.
  CallWatch& begin_timing(std::size_t i, std::uint64_t seed);

  /// Judges the results of the last timed call of a case, every node, and checks that its inputs
  /// are unchanged. The results of a context are kept for `judge_rounds`.
  Verification end_timing(std::size_t i);

  /// Judges a timed context after the last round. Runs it node by node on the values of the last
  /// timed call and judges every node. The results must equal those of the timed call.
  /// Errors: throws the errors of the kernels.
  Verification judge_rounds(std::size_t i);

  /// True if repeated calls on the same values give identical bits: no kernel's summation order
  /// depends on the threads.
  bool repeats(std::size_t i) const;

  /// Fingerprint of the outputs of a variant's last run, as 16 hexadecimal digits.
  std::string result_bits(std::size_t i) const;

  /// Like `result_bits`, without the bytes between elements and the outputs of skipped nodes. Both
  /// may have old contents.
  std::uint64_t element_bits(std::size_t i) const;

  /// Graph that a sample runs, inside `with_threads`.
  const BoundGraph& bound(std::size_t i) const { return *opened_[i].bound; }
  /// Removes a variant's tensors from the caches, for `--cold`.
  void evict(std::size_t i) const;
  const Workspace& workspace() const { return *workspace_; }

 private:
  /// Contents of the memory.
  struct Loaded {
    const Graph* graph;
    Values values;
  };
  /// Inputs and results of the last timed call of a context.
  struct LastCall {
    std::uint64_t seed = 0;          ///< of its values
    TimedInputs inputs;              ///< changes to these values
    std::uint64_t results = 0;       ///< fingerprint
    std::vector<StepResult> values;  ///< set if results are not reproducible bit for bit
  };
  struct Opened {
    std::unique_ptr<BoundGraph> bound;
    LossScaling scaling;
    LastCall last;
    TimedInputs failed_on;  ///< of a timed call with a wrong result
  };
  /// State while calls are timed.
  struct Timing {
    Loaded values;
    std::uint64_t given = 0;  ///< fingerprint
    CallWatch watch;
  };

  void poison_results(const UnitVariant& chosen) const;
  void replan(std::size_t i, double loss_scale);
  bool overflowed(std::size_t i) const;
  void compare_with_first(std::size_t i, Verification& found);
  FindRounding finds_rounding(std::size_t i) const;
  Verification judge_timed(std::size_t i);
  bool repeats_timed(std::size_t i);
  void note_results(std::size_t i);

  WorkUnit unit_;
  int threads_, copies_;
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
