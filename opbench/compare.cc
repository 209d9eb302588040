#include "opbench/compare.h"

#include "judge/compare_values.h"
#include "judge/standards.h"
#include "tensor/error.h"

namespace opbench {
namespace {

Standard parsed_standard(std::string_view text, DType dtype) {
  const StandardChoice choice = parse_standard(text);
  if (choice.kind == StandardKind::cross_check) {
    throw Error("compare_buffers: the cross-check needs a third tensor; use another standard");
  }
  return standard_for(builtin_standards(), choice, "", dtype);
}

BufferComparison::Verdict verdict_of(Verdict verdict) {
  if (verdict == Verdict::passed) return BufferComparison::Verdict::passed;
  if (verdict == Verdict::mistrusted) return BufferComparison::Verdict::mistrusted;
  return BufferComparison::Verdict::failed;
}

BufferComparison numbers_of(const PairStats& stats) {
  BufferComparison result;
  result.elements = stats.count;
  result.unequal = stats.unequal;
  result.mismatches = stats.nonfinite_mismatches();
  result.inside_share = stats.inside_share();
  result.max_abs = stats.worst_abs.error;
  result.mean_abs = stats.mean_abs();
  result.max_rel = stats.worst_rel.error;
  result.mean_rel = stats.mean_rel();
  result.rmse = stats.rmse();
  result.cosine = stats.cosine();
  result.max_ulp = stats.max_ulp;
  result.worst_index = stats.worst_abs.index;
  return result;
}

}  // namespace

BufferComparison compare_buffers(DType dtype, const Dims& shape, const void* actual,
                                 const void* expected, std::string_view standard) {
  const Standard held_to = parsed_standard(standard, dtype);
  const ValueComparison found =
      compare_values(actual, dtype, expected, dtype, element_count(shape), held_to, shape);
  BufferComparison result = numbers_of(found.stats);
  result.verdict = verdict_of(found.judgement.verdict);
  result.reason = found.judgement.reason;
  return result;
}

}  // namespace opbench
