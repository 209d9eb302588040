#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "harness/run/workspace.h"
#include "judge/judge.h"
#include "judge/judge_output.h"

namespace opbench {

/// Joined result of the verification of all nodes.
struct Verification {
  Judgement judgement;
  PairStats stats;            ///< joined over the outputs that count
  std::int64_t elements = 0;  ///< of these outputs; `stats` has fewer if it is of a sample
  std::string formula;        ///< criterion of the last of them, or of the first that failed
  /// Reason of a failure that is ignored because it is known: the limit of a kernel, and the
  /// failing check.
  std::string known_limit = {};
};

/// Rules that differ between a case, whose operator is examined closely, and a context, which
/// repeats its layers.
struct VerifyRules {
  /// A kernel is not judged again after this many sets of values of the same problem, in this
  /// variant or another.
  int enough = std::numeric_limits<int>::max();
  /// Nodes behind a failed node are skipped; else they still count for the accuracy.
  bool stops_at_failure = false;
  /// Kernels run again and must give the same bits for any surroundings of their tensors.
  bool repeats = true;
  /// An output of the graph whose values are weak evidence is mistrusted.
  bool can_mistrust = true;
  /// The accuracy is that of the operator under test and its gradient; else that of all nodes.
  bool counts_under_test = true;
  /// Larger outputs are judged on a sample of about this many elements.
  std::int64_t most_elements = std::numeric_limits<std::int64_t>::max();
  OutputRule outputs = {};  ///< the rule for rounded outputs
};

/// The rules for a unit: the defaults above for a case.
VerifyRules rules_for(const WorkUnit& unit, std::int64_t most_elements,
                      const OutputRule& outputs = {});

/// Runs variants node by node. Each node is judged at once, while its inputs are in memory, against
/// the fp64 reference on its actual inputs. It works block by block without a second copy of a
/// tensor. Before a node runs, its outputs are filled with NaN. Afterwards guard zones and inputs
/// must be unchanged.
class Verifier {
 public:
  explicit Verifier(VerifyRules rules) : rules_(rules) {}

  /// The data must be loaded. Kernels run with `threads` threads; judging uses the caller's
  /// threads.
  Verification verify(const UnitVariant& variant, const Workspace& workspace,
                      const BoundGraph& bound, int threads);

  /// Judges the results of the last call, on the inputs of each node in memory; runs nothing. For a
  /// graph whose tensors do not share memory.
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
  std::map<Key, int> judged_;  // number of times
};

}  // namespace opbench
