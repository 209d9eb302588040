#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/run/bound_graph.h"
#include "harness/run/call_watch.h"
#include "harness/run/item.h"
#include "harness/run/run_result.h"
#include "harness/run/step_results.h"
#include "harness/run/verify.h"
#include "harness/run/workspace.h"

namespace opbench {

/// The values that are in memory while a runnable is verified or timed.
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

/// An item in memory, a case as well as a context, and what can be done with its runnables: the one
/// way in which `opbench run` and the workers of `opbench check` run anything. Runnables are named
/// by their place in `item().runnables`.
///
/// Order: require_memory, allocate, prepare, find_loss_scale, then verify and samples of what is
/// prepared in any order: what a runnable needs in memory is put there. To sample one call:
///     open.load(i, {open.item().seed});
///     with_threads(open.threads(), [&] { sampler.sample_us(); });  // calls open.bound(i).run()
class OpenItem {
 public:
  /// Plans only; nothing is allocated. Phases are added to `times`, which must outlive it.
  OpenItem(Item item, int threads, PhaseTimes& times);

  const Item& item() const { return item_; }
  int threads() const { return threads_; }
  const Runnable& runnable(std::size_t i) const { return item_.runnables[i]; }

  /// Errors: throws RunError with both numbers if the runnables do not fit: the variants of a case
  /// with all their temporaries side by side, the largest step of a context, and where `verifies`
  /// the results that steps are held to.
  void require_memory(std::span<const std::size_t> chosen, bool verifies) const;
  /// Errors: throws RunError if the memory is not to be had.
  void allocate(std::span<const std::size_t> chosen);
  bool is_allocated() const { return workspace_.has_value(); }

  /// Binds the kernels to the memory. Errors: whatever a kernel throws.
  void prepare(std::size_t i);
  bool is_prepared(std::size_t i) const { return opened_[i].bound != nullptr; }
  /// Frees what the kernels of a runnable hold.
  void release(std::size_t i) { opened_[i].bound.reset(); }

  /// Training halves a dynamic loss scale after every step that overflowed, until one fits; the
  /// step is planned anew with it. Nothing to do for a runnable without loss scale.
  LossScaling find_loss_scale(std::size_t i);

  /// Moves all tensors to where `layout` (memory_plan.h) puts them, with the values that are
  /// loaded, for an item with a page of slack. What is prepared stays so, and a CallWatch that was
  /// restored; what was computed is lost.
  void move(std::uint64_t layout);

  /// Puts a runnable's values in place, unless they are there. Recorded inputs have the same values
  /// whatever is wanted. Errors: throws Error if an operator refuses them.
  void load(std::size_t i, const Values& values);

  /// Those that a runnable failed on: of a timed call with what it had in place of some of them.
  void load_failed(std::size_t i, const Values& values);

  /// Runs a runnable on the values of `seed`, with corner values in the inputs of a case, and
  /// judges every node. On the item's own seed the results of a step are held to those of the first
  /// step with the same inputs, too. A pass may come with a reason to know of. Errors: whatever a
  /// kernel throws.
  Verification verify(std::size_t i, std::uint64_t seed);

  /// Of a step of a training context that was just verified on the item's own seed: how far its
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

  /// Fingerprint of the outputs that the last run of a runnable left, as 16 hexadecimal digits.
  std::string result_bits(std::size_t i) const;

  /// The same of their elements alone, of nodes that ran: what lies between elements, and what a
  /// node that was left out would have written, is of any age.
  std::uint64_t element_bits(std::size_t i) const;

  /// What a sample calls, inside `with_threads`.
  const BoundGraph& bound(std::size_t i) const { return *opened_[i].bound; }
  /// Empties the caches of a runnable's tensors, for `--cold`.
  void evict(std::size_t i) const { workspace_->evict(runnable(i)); }
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
  Verification judge_timed(std::size_t i);
  bool repeats_timed(std::size_t i);
  void note_results(std::size_t i);

  Item item_;
  int threads_;
  PhaseTimes& times_;
  std::vector<Opened> opened_;
  std::optional<Workspace> workspace_;
  std::optional<Loaded> loaded_;
  std::optional<Timing> timing_;
  ScratchPool scratch_;  // of the kernels of all steps: one node runs at a time
  std::map<std::uint64_t, Verifier> verifiers_;  // by seed
  FirstResults firsts_;
  Anchors anchors_;
};

}  // namespace opbench
