#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "compare/judge_call.h"
#include "compare/tensor_cut.h"

namespace opbench {

/// A recorded call of which no right kernel leaves one output, whole or cut down.
struct Witness {
  /// Its entries are those of the dump it comes from; only `output` is recorded.
  std::unique_ptr<RecordedCall> call;
  LoadedCall loaded;
  std::size_t output = 0;
  Tensor expected;  ///< by the reference: fp64, not rounded, or of the output's dtype if exact
  OutputFinding finding;

  const Problem& problem() const { return call->problem; }
  const Tensor& recorded() const { return loaded.outputs[output]; }
  /// Of all inputs and the output.
  std::int64_t elements() const;
};

/// Takes what was loaded, of which `finding` says that output `output` is wrong.
Witness make_witness(LoadedCall loaded, std::size_t output, const OutputFinding& finding);

/// A part of a call that may be wrong in the same way.
struct Proposal {
  std::vector<std::size_t> sources;  ///< which inputs stay
  std::vector<TensorCut> inputs;     ///< what of each
  TensorCut output;
  Attrs attrs;

  /// All of it.
  static Proposal all_of(const Witness& witness);
};

/// Cuts a witness down by proposals that prove themselves: what the reference gives for the cut
/// inputs is, bit for bit, what the cut leaves of what it gave before; an element is still wrong by
/// the bound of the whole; and the judge finds the rest GUILTY.
class Cutting {
 public:
  /// `stop`: ends it early; from then on nothing is taken.
  Cutting(Witness& witness, const JudgeRules& rules, std::function<bool()> stop);

  const Witness& witness() const { return witness_; }
  bool is_stopped() const { return stop_(); }
  std::int64_t trials() const { return trials_; }

  /// Is the problem one that the operator takes, and its reference the same there?
  bool is_consistent(const Proposal& proposal);
  /// Takes a proposal that is smaller and proves itself.
  bool take(const Proposal& proposal);
  /// Stores all tensors in the order of their axes, without padding, if that proves itself.
  void make_plain();

 private:
  /// A proposal as a call.
  struct Candidate {
    std::unique_ptr<RecordedCall> call;
    LoadedCall loaded;
    Tensor expected;
  };
  std::optional<Candidate> candidate(const Proposal& proposal, bool is_plain);
  bool has_wrong_element(const Tensor& expected, const Tensor& recorded) const;
  bool accept(Candidate candidate, const Tensor& recorded);

  Witness& witness_;
  JudgeRules rules_;
  std::function<bool()> stop_;
  std::int64_t trials_ = 0;
};

}  // namespace opbench
