#include "compare/cancelled_sums.h"

#include <map>
#include <tuple>

#include "compare/operator_error.h"
#include "judge/comparable.h"
#include "judge/judge.h"

namespace opbench {
namespace {

/// By what a pair of tensors is known again where another operator reads it.
using Likeness = std::tuple<std::int64_t, double, double, double>;

Likeness likeness_of(const PairStats& stats) {
  return {stats.count, stats.sum_abs, stats.sum_expected_abs, stats.worst_abs.error};
}

bool may_have_cancelled(const TensorResult& tensor) {
  return tensor.is_measured && tensor.standard->kind == StandardKind::mixed &&
         tensor.judgement.verdict == Verdict::failed && tensor.stats.nonfinite_mismatches() == 0;
}

// All elements are inside a tolerance that follows `terms`.
void pass_at(double terms, TensorResult& tensor) {
  PairStats& stats = tensor.stats;
  stats.scale = terms;
  stats.inside = stats.count;
  stats.beyond_limit = 0;
  stats.worst_outside = stats.worst_beyond = {};
  stats.min_tolerance = stats.worst_abs.error / terms;
  // What passes may prove little still.
  tensor.judgement =
      judge(stats, tensor.standard, {judged_shape(tensor.match), judged_dtype(tensor.match)});
}

/// Scales of the outputs that passed so.
class PassedSums {
 public:
  // An input has the terms of the output that it is; a gradient that is looked at again as well.
  double scale_of(const OperatorResult& op, const TensorResult& tensor) const {
    if (tensor.entry().side == Side::output) return terms_scale(op, tensor);
    const auto found = scales_.find(likeness_of(tensor.stats));
    return found == scales_.end() ? 0 : found->second;
  }
  void add(const TensorResult& tensor) {
    scales_.emplace(likeness_of(tensor.stats), tensor.stats.scale);
  }

 private:
  std::map<Likeness, double> scales_;
};

}  // namespace

void hold_to_terms(Comparison& comparison) {
  PassedSums passed;
  for (OperatorResult& op : comparison.operators) {
    for (TensorResult& tensor : op.tensors) {
      if (!may_have_cancelled(tensor)) continue;
      const double terms = passed.scale_of(op, tensor);
      const bool is_rounding =
          tensor.stats.worst_abs.error <= tensor.standard->tolerance.atol * terms;
      if (terms <= tensor.stats.scale || !is_rounding) continue;
      pass_at(terms, tensor);
      passed.add(tensor);
    }
  }
}

}  // namespace opbench
