#include "harness/plan/recorded_problem.h"

#include <algorithm>
#include <optional>

#include "harness/plan/recorded_entries.h"
#include "tensor/error.h"

namespace opbench {
namespace {

// [2, 6, 16] as [12, 16], [16] as [1, 16].
Dims with_joined_rows(const Dims& shape) {
  if (shape.empty() || shape.size() == 2) return shape;
  return {element_count(Dims(shape.begin(), shape.end() - 1)), shape.back()};
}

// True for an optional input without elements, of any dtype.
bool is_absent(const Op& op, std::size_t i, const DumpEntry& entry) {
  return i + op.optional_inputs >= op.inputs.size() && entry.desc.shape == Dims{0};
}

// Floating dtypes are wider than all others.
bool is_wider(DType dtype, DType other) {
  return is_floating(dtype) == is_floating(other) ? size_of(dtype) > size_of(other)
                                                  : is_floating(dtype);
}

// Common dtype of all inputs without a dtype of their own: the widest floating one, for example
// fp32 for statistics in fp32 with activations in fp16.
DType common_dtype(const Op& op, std::span<const DumpEntry* const> inputs) {
  std::optional<DType> widest;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const DType dtype = inputs[i]->desc.dtype;
    if (op.input(i).has_own_dtype() || inputs[i]->kind == EntryKind::scalar) continue;
    if (is_absent(op, i, *inputs[i])) continue;
    const bool both_half = widest && size_of(*widest) == 2 && size_of(dtype) == 2;
    if (both_half && *widest != dtype && is_floating(dtype) && is_floating(*widest)) {
      widest = DType::fp32;
    } else if (!widest || is_wider(dtype, *widest)) {
      widest = dtype;
    }
  }
  return widest.value_or(DType::fp32);
}

// A number that is compared has the dtype of the tensor, and a whole number that of a tensor of
// whole numbers. Other numbers are not rounded to it.
DType operand_dtype(const Op& op, DType dtype, const DumpEntry& number) {
  const bool is_compared = op.reference == nullptr && is_floating(dtype);
  const bool is_whole = op.exact_reference != nullptr && !is_floating(dtype) &&
                        !is_floating(number.desc.dtype) && dtype != DType::boolean;
  return is_compared || is_whole ? dtype : DType::fp64;
}

}  // namespace

// The dtype that is checked against the operator's rules. The reference takes fp64 and whole
// numbers for an operator that takes fp32.
DType RecordedProblem::checked_dtype(const std::vector<DType>& dtypes, DType dtype) const {
  if (dtypes_ == TakenDTypes::of_variants) return dtype;
  const auto takes = [&](DType d) {
    return std::find(dtypes.begin(), dtypes.end(), d) != dtypes.end();
  };
  const bool is_exact_in_fp64 = dtype == DType::fp64 || dtype == DType::int64 ||
                                dtype == DType::int32 || dtype == DType::boolean;
  return is_exact_in_fp64 && !takes(dtype) && takes(DType::fp32) ? DType::fp32 : dtype;
}

Problem RecordedProblem::of(const OpUse& use, std::span<const DumpEntry* const> inputs) const {
  if (inputs.size() > 1 && is_packed(use.op->input(1), *inputs[1])) {
    try {
      return of(use, inputs, 2);
    } catch (const Error&) {
      // Its shape fits no view.
    }
  }
  return of(use, inputs, 1);
}

Dims RecordedProblem::logical_shape(const OpUse& use, std::size_t i, const DumpEntry& entry,
                                    std::size_t axis_of_weight) const {
  if (is_absent(*use.op, i, entry)) return entry.desc.shape;
  Dims shape = attrs_.shape_of(use, i, entry);
  if (is_packed(use.op->input(i), entry)) shape = unpacked(shape, i == 1 ? axis_of_weight : 1);
  return i == 0 && joins_rows_ ? with_joined_rows(shape) : shape;
}

Problem RecordedProblem::of(const OpUse& use, std::span<const DumpEntry* const> inputs,
                            std::size_t axis_of_weight) const {
  const Op& op = *use.op;
  const DType dtype = common_dtype(op, inputs);
  std::vector<Dims> shapes;
  std::vector<DType> recorded;
  std::vector<std::optional<DType>> checked;
  std::size_t rank = 0;
  check_input_count(op, inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const DumpEntry& entry = *inputs[i];
    const bool follows = !op.input(i).has_own_dtype();
    const bool absent = is_absent(op, i, entry);
    const DType own = absent && !follows              ? op.input(i).dtypes.front()
                      : is_packed(op.input(i), entry) ? DType::int4
                                                      : entry.desc.dtype;
    shapes.push_back(logical_shape(use, i, entry, axis_of_weight));
    const bool promotes = dtypes_ == TakenDTypes::of_variants && op.promotes &&
                          entry.kind == EntryKind::tensor && is_floating(own) &&
                          !entry.desc.shape.empty();
    recorded.push_back(follows && !promotes ? dtype : own);
    checked.push_back(checked_dtype(follows ? op.dtypes : op.input(i).dtypes, recorded.back()));
    if (absent || !follows) continue;
    if (entry.kind == EntryKind::scalar) recorded[i] = operand_dtype(op, dtype, entry);
    rank = std::max(rank, (i == 0 && joins_rows_ ? shapes[i] : entry.desc.shape).size());
  }
  const Attrs attrs = attrs_.of(use, dtype);
  Problem problem = make_problem(op,
                                 describe_inputs(op, shapes, checked_dtype(op.dtypes, dtype),
                                                 origin_format(rank), attrs, checked),
                                 attrs);
  for (std::size_t i = 0; i < recorded.size(); ++i) problem.inputs[i].dtype = recorded[i];
  for (TensorDesc& output : problem.outputs) {
    if (output.dtype == checked_dtype(op.dtypes, dtype)) output.dtype = dtype;
  }
  return problem;
}

Dims RecordedProblem::recorded_shape(const TensorDesc& output, const DumpEntry& first) const {
  Dims shape = first.desc.shape;
  if (!joins_rows_ || shape.empty() || output.shape.empty()) return output.shape;
  shape.back() = output.shape.back();
  return shape;
}

}  // namespace opbench
