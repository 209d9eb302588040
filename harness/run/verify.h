#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "harness/run/workspace.h"
#include "judge/judge.h"
#include "judge/judge_output.h"

namespace opbench {

/// What verification found on all nodes together.
struct Verification {
  Judgement judgement;
  PairStats stats;            ///< joined over the outputs that count
  std::int64_t elements = 0;  ///< of these outputs; `stats` are of a sample where it counts fewer
  std::string formula;        ///< what the last of them, or the first that failed, was held to
  /// Why a failure that counts for none was known before: the limit of a kernel, and what failed.
  std::string known_limit = {};
};

/// What differs between a case, whose operator is looked at closely, and a context, which repeats
/// its layers.
struct VerifyRules {
  /// A kernel that has been judged on so many sets of values of the same problem, in this variant
  /// or another, is not judged again.
  int enough = std::numeric_limits<int>::max();
  /// Nodes behind one that failed are left out; else they still count for the accuracy.
  bool stops_at_failure = false;
  /// Kernels run again, and must leave the same bits whatever lies around their tensors.
  bool repeats = true;
  /// An output of the graph whose values prove little is mistrusted.
  bool can_mistrust = true;
  /// The accuracy is that of the operator under test and its gradient; else that of all nodes.
  bool counts_under_test = true;
  /// Larger outputs are judged on a sample of about so many elements.
  std::int64_t most_elements = std::numeric_limits<std::int64_t>::max();
  OutputRule outputs = {};  ///< the rule for rounded outputs
};

/// The rules for a unit: those above for a case.
VerifyRules rules_for(const WorkUnit& unit, std::int64_t most_elements,
                      const OutputRule& outputs = {});

/// Runs variants node by node and judges each node right away, while its inputs are still there,
/// against the fp64 reference on the inputs it really got, block by block without a second copy of
/// anything. Before a node runs its outputs are NaN; afterwards guard zones and inputs must be as
/// they were.
class Verifier {
 public:
  explicit Verifier(VerifyRules rules) : rules_(rules) {}

  /// The data is loaded. Kernels run with `threads` threads, judging with those of the caller.
  Verification verify(const UnitVariant& variant, const Workspace& workspace,
                      const BoundGraph& bound, int threads);

  /// Judges what the last call left, on the inputs that each node has in memory; runs nothing. For
  /// a graph whose tensors lie apart.
  Verification judge(const UnitVariant& variant, const Workspace& workspace) const;

 private:
  struct Key {
    const Kernel* kernel;
    std::string problem;
    bool saturates;
    auto operator<=>(const Key&) const = default;
  };

  bool is_known(const UnitVariant& variant, std::size_t node);

  VerifyRules rules_;
  std::map<Key, int> judged_;  // how often
};

}  // namespace opbench
