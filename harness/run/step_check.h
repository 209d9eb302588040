#pragma once

#include <map>
#include <string>
#include <vector>

#include "compare/judge/stats.h"
#include "harness/run/bound_graph.h"
#include "harness/run/context_memory.h"

namespace opbench {

/// What was found on the nodes of a step.
struct StepCheck {
  Judgement judgement;
  Stats stats;  ///< joined over all nodes
  /// What an element of a result that is a sum comes to where its terms do not cancel, by tensor.
  std::map<std::size_t, double> random_sums;
};

/// Runs steps node by node and judges each node right away, while its inputs are still there,
/// against the fp64 reference on the inputs it really got. A kernel that has been judged on enough
/// sets of values of the same problem, in this step or another, is not judged again: a network
/// repeats its layers.
class StepChecker {
 public:
  explicit StepChecker(int enough = 2) : enough_(enough) {}

  /// The step's inputs are loaded. Call inside `with_threads`.
  StepCheck check(const PlannedStep& step, const ContextMemory& memory, const BoundGraph& bound);

 private:
  struct Key {
    const Kernel* kernel;
    std::string problem;
    bool saturates;
    auto operator<=>(const Key&) const = default;
  };

  int enough_;
  std::map<Key, int> judged_;  // how often
};

/// A tensor that steps are compared by, dense and in logical order.
struct StepResult {
  std::string name;
  TensorDesc desc;
  std::vector<float> values;
  double random_sum = 0;  ///< of an element; 0: it is no sum
};

/// Copies the results of a step that has run; `random_sums` are those of its check.
std::vector<StepResult> collect_results(const PlannedStep& step, const TensorStorage& storage,
                                        const std::map<std::size_t, double>& random_sums = {});

/// Holds the results of a step to those of another with the same names and shapes: the first that
/// fails decides. A sum that is 0 but for rounding, such as the gradient of a shift which the next
/// batch norm takes back, meets no relative standard: what differs by less than 2^-6 of what its
/// terms come to at random passes.
Judgement compare_results(const std::vector<StepResult>& actual,
                          const std::vector<StepResult>& expected, const ContextStandard& standard);

}  // namespace opbench
