#include "compare/cancelled_sums.h"

#include "compare/operator_error.h"

namespace opbench {
namespace {

bool may_have_cancelled(const TensorResult& tensor) {
  return tensor.is_measured && tensor.entry().side == Side::output &&
         tensor.standard.kind == StandardKind::mixed &&
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
  tensor.judgement = {Verdict::passed, {}};
}

}  // namespace

void hold_to_terms(Comparison& comparison) {
  for (OperatorResult& op : comparison.operators) {
    for (TensorResult& tensor : op.tensors) {
      if (!may_have_cancelled(tensor)) continue;
      const double terms = terms_scale(op, tensor);
      const bool is_rounding =
          tensor.stats.worst_abs.error <= tensor.standard.tolerance.atol * terms;
      if (terms > tensor.stats.scale && is_rounding) pass_at(terms, tensor);
    }
  }
}

}  // namespace opbench
