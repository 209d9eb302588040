#include "harness/plan/recorded_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "harness/plan/case.h"
#include "harness/plan/recorded_attrs.h"
#include "harness/plan/recorded_entries.h"
#include "ops/positional_call.h"
#include "tensor/error.h"

namespace opbench {
namespace {

// Extents other than 1. They determine the positions of elements.
Dims without_ones(Dims shape) {
  std::erase(shape, 1);
  return shape;
}

// [2, 6, 16] as [12, 16].
Dims with_joined_rows(const Dims& shape) {
  if (shape.size() < 3) return shape;
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

/// Tries the table's rows for one record.
class RecordReading {
 public:
  RecordReading(const DumpRecord& record, const ReadNumbers& read, Results results,
                TakenDTypes dtypes)
      : record_(record), attrs_(record, read), results_(results), dtypes_(dtypes) {
    const PositionalCall* const call = find_positional_call(record.op);
    joins_rows_ = call != nullptr && call->joins_rows;
  }

  // True if all recorded parts of the condition hold. A needed number or list without a list of
  // values may have any value.
  bool holds(const OpRow& row) const {
    for (const RecordedCondition& condition : row.where) {
      const DumpEntry* found = entry_called(record_, Side::input, condition.name);
      if (found == nullptr && condition.is_needed) return false;
      const bool is_any_allowed = condition.is_needed && condition.values.empty();
      if (found == nullptr || is_any_allowed) continue;
      if (attrs_.numbers(*found) != condition.values) return false;
    }
    return row.devices.empty() ||
           std::find(row.devices.begin(), row.devices.end(), device()) != row.devices.end();
  }

  RecordedCall call(const OpUse& use, Numbers numbers) const {
    std::vector<const DumpEntry*> inputs = inputs_of(record_, use, numbers);
    RecordedCall call{problem(use, inputs), inputs, {}};
    for (std::size_t i = 0; i < call.problem.outputs.size(); ++i) {
      call.outputs.push_back(find_entry(record_, Side::output, output_name(use, i)));
    }
    adopt_outputs(call);
    return call;
  }

  // The call that a dump of opbench notes, if the note agrees with the recorded data.
  RecordedCall noted(const std::string& id) const {
    const Case c = parse_case_id(id);
    RecordedCall call{problem_of(c), {}, {}};
    for (std::size_t i = 0; i < call.problem.inputs.size(); ++i) {
      call.inputs.push_back(&tensor_of(record_, Side::input, {{c.op->input_path(i)}, false}));
      const TensorDesc& found = call.inputs.back()->desc;
      if (found.shape != call.problem.inputs[i].shape ||
          found.dtype != call.problem.inputs[i].dtype) {
        throw Unfit(fmt::format("opbench_call does not fit {}", call.inputs.back()->path));
      }
    }
    for (std::size_t i = 0; i < call.problem.outputs.size(); ++i) {
      call.outputs.push_back(
          entry_called(record_, Side::output, c.op->output_path(call.problem, i)));
    }
    adopt_outputs(call);
    return call;
  }

 private:
  std::string device() const {
    for (const DumpEntry& entry : record_.entries) {
      if (entry.kind == EntryKind::tensor) return to_string(entry.device);
    }
    return {};
  }

  // Common dtype of all inputs without a dtype of their own: the widest floating one, for example
  // fp32 for statistics in fp32 with activations in fp16.
  static DType common_dtype(const Op& op, std::span<const DumpEntry* const> inputs) {
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

  // The dtype that is checked against the operator's rules. The reference takes fp64 and whole
  // numbers for an operator that takes fp32.
  DType checked_dtype(const std::vector<DType>& dtypes, DType dtype) const {
    if (dtypes_ == TakenDTypes::of_variants) return dtype;
    const auto takes = [&](DType d) {
      return std::find(dtypes.begin(), dtypes.end(), d) != dtypes.end();
    };
    const bool is_exact_in_fp64 = dtype == DType::fp64 || dtype == DType::int64 ||
                                  dtype == DType::int32 || dtype == DType::boolean;
    return is_exact_in_fp64 && !takes(dtype) && takes(DType::fp32) ? DType::fp32 : dtype;
  }

  // A number that is compared has the dtype of the tensor, and a whole number that of a tensor of
  // whole numbers. Other numbers are not rounded to it.
  static DType operand_dtype(const Op& op, DType dtype, const DumpEntry& number) {
    const bool is_compared = op.reference == nullptr && is_floating(dtype);
    const bool is_whole = op.exact_reference != nullptr && !is_floating(dtype) &&
                          !is_floating(number.desc.dtype) && dtype != DType::boolean;
    return is_compared || is_whole ? dtype : DType::fp64;
  }

  // A packed weight may be a transposed view: its second last axis is the packed one.
  Problem problem(const OpUse& use, std::span<const DumpEntry* const> inputs) const {
    if (inputs.size() > 1 && is_packed(use.op->input(1), *inputs[1])) {
      try {
        return problem(use, inputs, 2);
      } catch (const Error&) {
        // Its shape fits no view.
      }
    }
    return problem(use, inputs, 1);
  }

  Problem problem(const OpUse& use, std::span<const DumpEntry* const> inputs,
                  std::size_t axis_of_weight) const {
    const Op& op = *use.op;
    const DType dtype = common_dtype(op, inputs);
    std::vector<Dims> shapes;
    std::vector<DType> recorded;
    std::vector<std::optional<DType>> checked;
    std::size_t rank = 0;
    check_input_count(op, inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const bool follows = !op.input(i).has_own_dtype();
      const bool absent = is_absent(op, i, *inputs[i]);
      const bool packed = is_packed(op.input(i), *inputs[i]);
      const DType own = absent && !follows ? op.input(i).dtypes.front()
                        : packed           ? DType::int4
                                           : inputs[i]->desc.dtype;
      shapes.push_back(absent ? inputs[i]->desc.shape : attrs_.shape_of(use, i, *inputs[i]));
      if (packed) shapes.back() = unpacked(shapes.back(), i == 1 ? axis_of_weight : 1);
      const bool is_joined = i == 0 && joins_rows_;
      if (is_joined) shapes.back() = with_joined_rows(shapes.back());
      const bool promotes = dtypes_ == TakenDTypes::of_variants && op.promotes &&
                            inputs[i]->kind == EntryKind::tensor && is_floating(own) &&
                            !inputs[i]->desc.shape.empty();
      recorded.push_back(follows && !promotes ? dtype : own);
      checked.push_back(checked_dtype(follows ? op.dtypes : op.input(i).dtypes, recorded.back()));
      if (absent) continue;
      if (follows && inputs[i]->kind == EntryKind::scalar) {
        recorded[i] = operand_dtype(op, dtype, *inputs[i]);
      }
      if (follows) {
        rank = std::max(rank, (is_joined ? shapes[i] : inputs[i]->desc.shape).size());
      }
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

  // Axes of extent 1 do not move elements, but a variant writes its own shape.
  bool is_alike(const Dims& recorded, const Dims& ours) const {
    if (recorded == ours || (joins_rows_ && with_joined_rows(recorded) == ours)) return true;
    if (results_ == Results::flattened && recorded.size() == 1) {
      return recorded[0] == element_count(ours);
    }
    return dtypes_ == TakenDTypes::of_reference && without_ones(recorded) == without_ones(ours);
  }

  // Results are judged in the recorded dtype: a sum of fp16 numbers may be fp32.
  void adopt_outputs(RecordedCall& call) const {
    bool is_any = false;
    for (std::size_t i = 0; i < call.outputs.size(); ++i) {
      if (call.outputs[i] == nullptr) continue;
      const DumpEntry& found = tensor_of(record_, Side::output, {{call.outputs[i]->name}, false});
      TensorDesc& desc = call.problem.outputs[i];
      is_any = true;
      const bool is_unlike = found.desc.dtype == DType::int32 && found.desc.shape != desc.shape;
      if (is_unlike && desc.dtype == DType::int4 && unpacked(found.desc.shape, 1) == desc.shape) {
        continue;
      }
      if (!is_alike(found.desc.shape, desc.shape)) {
        throw Unfit(fmt::format("output {} is {}; that of {} is {}", found.name,
                                to_string(found.desc.shape), call.problem.op->name,
                                to_string(desc.shape)));
      }
      if (found.desc.dtype != desc.dtype && call.problem.op->reference == nullptr) {
        throw Unfit(fmt::format("output {} is {}; that of {} is {}", found.name,
                                name(found.desc.dtype), call.problem.op->name, name(desc.dtype)));
      }
      if (found.desc.dtype == DType::boolean && call.problem.op->reference != nullptr) {
        throw Unfit(fmt::format("output {} is a mask; that of {} is a number", found.name,
                                call.problem.op->name));
      }
      desc.dtype = found.desc.dtype;
    }
    if (!is_any && results_ != Results::unknown) throw Unfit("no output is recorded");
  }

  const DumpRecord& record_;
  RecordedAttrs attrs_;
  Results results_;
  TakenDTypes dtypes_;
  bool joins_rows_ = false;  // of the first input and the result
};

// Parts of a row that match. An output that the caller did not request is not recorded.
std::vector<RecordedCall> parts_of(const RecordReading& reading, const OpRow& row, Numbers numbers,
                                   std::string& obstacle) {
  std::vector<RecordedCall> calls;
  for (const OpUse& use : row.uses) {
    try {
      calls.push_back(reading.call(use, numbers));
    } catch (const RunError&) {
      throw;
    } catch (const Error& error) {
      if (obstacle.empty()) obstacle = error.what();
    }
  }
  return calls;
}

// The first argument of a positional call whose meaning is not known; null: none.
const DumpEntry* unknown_argument(const DumpRecord& record) {
  const PositionalCall* const call = find_positional_call(record.op);
  if (call == nullptr) return nullptr;
  for (const DumpEntry& entry : record.entries) {
    if (entry.side == Side::input && !takes_argument(*call, entry.name)) return &entry;
  }
  return nullptr;
}

// Rows of --map precede the built-in ones.
bool is_of_map(const OpTable& table, const OpRow& row) {
  const auto place = &row - table.rows().data();
  return place + std::ssize(OpTable::builtin().rows()) < std::ssize(table.rows());
}

}  // namespace

RecordedCalls calls_of(const DumpRecord& record, const OpTable& table, const ReadNumbers& read,
                       Results results, TakenDTypes dtypes) {
  RecordedCalls found;
  const RecordReading reading(record, read, results, dtypes);
  if (const std::string* id = record.note("opbench_call")) {
    try {
      found.calls.push_back(reading.noted(*id));
      found.is_known = true;
      return found;
    } catch (const RunError&) {
      throw;
    } catch (const Error&) {
      // The note does not match; the record is read like a dump of another program.
    }
  }
  if (const DumpEntry* const entry = unknown_argument(record)) {
    found.is_known = true;
    found.obstacle = fmt::format("the meaning of argument {} is not known", entry->name);
    return found;
  }
  const std::vector<const OpRow*> rows = table.find(record.op);
  std::string unfit;
  for (const Numbers numbers : {Numbers::as_attributes, Numbers::as_tensors}) {
    // Only the reference takes numbers as operands.
    if (numbers == Numbers::as_tensors && dtypes != TakenDTypes::of_reference) break;
    for (const OpRow* row : rows) {
      found.is_known = true;
      if (row->drawn != Drawn::not_at_all) {
        found.drawn = row->drawn;
        return found;
      }
      std::string obstacle;
      try {
        if (!reading.holds(*row)) {
          if (found.obstacle.empty())
            found.obstacle = "the table does not have this use of the operator";
          continue;
        }
        found.calls = parts_of(reading, *row, numbers, obstacle);
      } catch (const Unfit& error) {
        obstacle = error.what();
      }
      if (!found.calls.empty()) {
        found.obstacle = unfit;
        return found;
      }
      if (unfit.empty() && is_of_map(table, *row)) unfit = obstacle;
      if (!obstacle.empty()) found.obstacle = obstacle;  // later rows are more general
    }
  }
  if (!found.is_known) found.obstacle = "no operator of that name is known";
  return found;
}

}  // namespace opbench
