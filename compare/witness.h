#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "compare/judge_call.h"
#include "compare/tensor_cut.h"

namespace opbench {

/// A recorded call with an output that no correct kernel gives; complete or reduced.
struct Witness {
  /// Its entries are those of the original dump; only `output` is recorded.
  std::unique_ptr<RecordedCall> call;
  LoadedCall loaded;
  std::size_t output = 0;
  Tensor expected;  ///< by the reference: fp64, not rounded, or of the output's dtype if exact
  OutputFinding finding;

  const Problem& problem() const { return call->problem; }
  const Tensor& recorded() const { return loaded.outputs[output]; }
  /// The number of elements of all inputs and the output.
  std::int64_t elements() const;
};

/// Takes a loaded call with a `finding` that output `output` is wrong.
Witness make_witness(LoadedCall loaded, std::size_t output, const OutputFinding& finding);

/// A part of a call that may be wrong in the same way.
struct Proposal {
  std::vector<std::size_t> sources;  ///< which inputs stay
  std::vector<TensorCut> inputs;     ///< what of each
  TensorCut output;
  Attrs attrs;

  /// The whole call.
  static Proposal all_of(const Witness& witness);
};

/// Reduces a witness by proposals that pass three checks. The reference for the cut inputs equals,
/// bit for bit, the cut of the previous reference. An element is still wrong by the bound of the
/// whole tensor. The judge finds the rest GUILTY.
class Cutting {
 public:
  /// `stop` ends the search early; after that no proposal is accepted.
  Cutting(Witness& witness, const JudgeRules& rules, std::function<bool()> stop);

  const Witness& witness() const { return witness_; }
  bool is_stopped() const { return stop_(); }
  std::int64_t trials() const { return trials_; }

  /// True if the operator accepts the problem, and its reference there is the same.
  bool is_consistent(const Proposal& proposal);
  /// Accepts a proposal that is smaller and passes the checks.
  bool take(const Proposal& proposal);
  /// Stores all tensors in the order of their axes, without padding, if that passes the checks.
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
