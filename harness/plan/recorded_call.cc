#include "harness/plan/recorded_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "harness/plan/case.h"
#include "harness/plan/recorded_attrs.h"
#include "harness/plan/recorded_entries.h"
#include "harness/plan/recorded_problem.h"
#include "ops/positional_call.h"
#include "tensor/error.h"

namespace opbench {
namespace {

// Extents other than 1. They determine the positions of elements.
Dims without_ones(Dims shape) {
  std::erase(shape, 1);
  return shape;
}

bool joins_rows(const DumpRecord& record) {
  const PositionalCall* const call = find_positional_call(record.op);
  return call != nullptr && call->joins_rows;
}

/// Tries the table's rows for one record.
class RecordReading {
 public:
  RecordReading(const DumpRecord& record, const ReadNumbers& read, Results results,
                TakenDTypes dtypes)
      : record_(record),
        attrs_(record, read),
        results_(results),
        dtypes_(dtypes),
        problem_(attrs_, dtypes, joins_rows(record)) {}

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
    RecordedCall call{problem_.of(use, inputs), inputs, {}};
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

  // Axes of extent 1 do not move elements, but a variant writes its own shape.
  bool is_alike(const TensorDesc& recorded, const TensorDesc& ours, const Dims& shape) const {
    if (recorded.shape == shape || holds_packed(recorded, ours)) return true;
    if (results_ == Results::flattened && recorded.shape.size() == 1) {
      return recorded.shape[0] == ours.elements();
    }
    return dtypes_ == TakenDTypes::of_reference &&
           without_ones(recorded.shape) == without_ones(shape);
  }

  // Results are judged in the recorded dtype: a sum of fp16 numbers may be fp32.
  void adopt_outputs(RecordedCall& call) const {
    bool is_any = false;
    for (std::size_t i = 0; i < call.outputs.size(); ++i) {
      if (call.outputs[i] == nullptr) continue;
      const DumpEntry& found = tensor_of(record_, Side::output, {{call.outputs[i]->name}, false});
      TensorDesc& desc = call.problem.outputs[i];
      is_any = true;
      const Dims shape =
          call.inputs.empty() ? desc.shape : problem_.recorded_shape(desc, *call.inputs[0]);
      if (!is_alike(found.desc, desc, shape)) {
        throw Unfit(fmt::format("output {} is {}; that of {} is {}", found.name,
                                to_string(found.desc.shape), call.problem.op->name,
                                to_string(shape)));
      }
      if (holds_packed(found.desc, desc)) continue;
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
  RecordedProblem problem_;
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
