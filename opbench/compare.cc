#include "opbench/compare.h"

#include <cstring>

#include "compare/judge/judge_pair.h"
#include "compare/measure/measure_pairs.h"
#include "compare/standard/standards.h"
#include "tensor/error.h"
#include "tensor/half.h"

namespace opbench {
namespace {

StoredType stored_type(DType dtype) {
  switch (dtype) {
    case DType::fp64:
      return StoredType::f64;
    case DType::fp32:
    case DType::bf16:  // no file has a type for it
      return StoredType::f32;
    case DType::fp16:
      return StoredType::f16;
    case DType::int64:
      return StoredType::i64;
    case DType::int32:
      return StoredType::i32;
    case DType::int16:
      return StoredType::i16;
    case DType::int8:
      return StoredType::i8;
    case DType::uint8:
    case DType::boolean:
      break;
  }
  return StoredType::u8;
}

PairSide side_of(DType dtype, const void* data) {
  const auto read = [dtype, data](ElementRange range, void* to) {
    const auto count = static_cast<std::size_t>(range.count);
    if (dtype == DType::bf16) {
      widen(static_cast<const bfloat16*>(data) + range.first, static_cast<float*>(to), count);
      return;
    }
    const std::size_t size = size_of(dtype);
    const auto* bytes = static_cast<const std::byte*>(data);
    std::memcpy(to, bytes + static_cast<std::size_t>(range.first) * size, count * size);
  };
  return {stored_type(dtype), dtype, read};
}

Standard parsed_standard(std::string_view text, DType dtype) {
  const StandardChoice choice = parse_standard(text);
  if (choice.kind == StandardKind::cross_check) {
    throw Error("compare_buffers: the cross-check needs a third tensor; use another standard");
  }
  return standard_for(builtin_standards(), choice, "", dtype);
}

BufferComparison::Verdict verdict_of(PairVerdict verdict) {
  if (verdict == PairVerdict::passed) return BufferComparison::Verdict::passed;
  if (verdict == PairVerdict::mistrusted) return BufferComparison::Verdict::mistrusted;
  return BufferComparison::Verdict::failed;
}

BufferComparison numbers_of(const PairStats& stats) {
  BufferComparison result;
  result.elements = stats.count;
  result.unequal = stats.unequal;
  result.mismatches = stats.nan_mismatches + stats.inf_mismatches;
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
  const TensorPair pair{side_of(dtype, actual), side_of(dtype, expected), element_count(shape),
                        held_to.tolerance};
  MeasureOptions options;
  options.wants_kl = false;
  const PairMeasures measures =
      measure_pairs(1, [&](std::size_t) { return pair; }, options, {}).front();
  if (!measures.error.empty()) throw RunError(measures.error);
  DumpEntry entry;
  entry.desc.dtype = dtype;
  entry.desc.shape = shape;
  const PairJudgement judged = judge_pair({&entry, &entry}, measures.stats, held_to);
  BufferComparison result = numbers_of(measures.stats);
  result.verdict = verdict_of(judged.verdict);
  result.reason = judged.reason;
  return result;
}

}  // namespace opbench
