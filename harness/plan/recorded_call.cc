#include "harness/plan/recorded_call.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>
#include <variant>

#include "harness/plan/case.h"
#include "tensor/error.h"

namespace opbench {
namespace {

// What stands in the way of a row, but is no fault of the file.
struct Unfit : Error {
  using Error::Error;
};

const DumpEntry* entry_called(const DumpRecord& record, Side side, std::string_view name) {
  for (const DumpEntry& entry : record.entries) {
    if (entry.side == side && entry.name == name) return &entry;
  }
  return nullptr;
}

const DumpEntry* find_entry(const DumpRecord& record, Side side, const RecordedName& wanted) {
  constexpr std::string_view kOutput = "output ";
  for (const std::string& name : wanted.names) {
    const bool is_result = side == Side::input && name.starts_with(kOutput);
    const DumpEntry* found = is_result
                                 ? entry_called(record, Side::output, name.substr(kOutput.size()))
                                 : entry_called(record, side, name);
    if (found != nullptr) return found;
  }
  return nullptr;
}

// Whether a recorded number may be an operand in place of a tensor.
enum class Numbers { as_attributes, as_tensors };

const DumpEntry& tensor_of(const DumpRecord& record, Side side, const RecordedName& wanted,
                           Numbers numbers = Numbers::as_attributes) {
  const DumpEntry* found = find_entry(record, side, wanted);
  const std::string_view where = side == Side::input ? "input" : "output";
  if (found == nullptr) {
    throw Unfit(fmt::format("{} {} is not recorded", where, fmt::join(wanted.names, " or ")));
  }
  const bool is_taken = found->kind == EntryKind::tensor ||
                        (numbers == Numbers::as_tensors && found->kind == EntryKind::scalar &&
                         found->desc.elements() == 1);
  if (!is_taken) throw Unfit(fmt::format("{} {} is no tensor", where, found->name));
  if (!found->problem.empty()) throw Unfit(fmt::format("{}: {}", found->path, found->problem));
  return *found;
}

// The elements of a list, in their order; they may have gaps, where a tensor was undefined.
std::vector<const DumpEntry*> list_of(const DumpRecord& record, const std::string& pattern) {
  const std::string prefix = pattern.substr(0, pattern.size() - 1);
  std::vector<const DumpEntry*> all;
  for (std::size_t i = 0; i < record.entries.size(); ++i) {
    const DumpEntry* found = entry_called(record, Side::input, prefix + std::to_string(i));
    if (found == nullptr) break;
    all.push_back(&tensor_of(record, Side::input, {{found->name}, false}));
  }
  if (all.empty()) throw Unfit(fmt::format("input {}0 is not recorded", prefix));
  return all;
}

std::vector<const DumpEntry*> inputs_of(const DumpRecord& record, const OpUse& use,
                                        Numbers numbers) {
  std::vector<const DumpEntry*> all;
  for (const RecordedName& wanted : use.inputs) {
    const bool is_there = find_entry(record, Side::input, wanted) != nullptr;
    if (wanted.names.size() == 1 && wanted.names[0].ends_with('*')) {
      for (const DumpEntry* entry : list_of(record, wanted.names[0])) all.push_back(entry);
    } else if (is_there || !wanted.is_optional) {
      all.push_back(&tensor_of(record, Side::input, wanted, numbers));
    }
  }
  return all;
}

// "result/result_*" is as many as the operator has.
RecordedName output_name(const OpUse& use, std::size_t i) {
  const auto is_list = [](const RecordedName& name) {
    return name.names.size() == 1 && name.names[0].ends_with('*');
  };
  if (i < use.outputs.size() && !is_list(use.outputs[i])) return use.outputs[i];
  if (use.outputs.empty() || !is_list(use.outputs.back())) return {};
  std::string name = use.outputs.back().names[0];
  name.pop_back();
  return {{name + std::to_string(i + 1 - use.outputs.size())}};
}

// A number as attributes are written; whole ones without a point.
std::string number_text(double value) { return fmt::format("{}", value); }

std::string value_text(const AttrSpec& spec, const std::vector<double>& numbers) {
  if (std::holds_alternative<std::vector<std::int64_t>>(spec.default_value)) {
    std::vector<std::string> all;
    for (const double number : numbers) all.push_back(number_text(number));
    return fmt::format("[{}]", fmt::join(all, ","));
  }
  if (numbers.size() != 1) {
    throw Unfit(fmt::format("{} numbers are recorded for '{}'", numbers.size(), spec.name));
  }
  if (std::holds_alternative<bool>(spec.default_value)) return numbers[0] != 0 ? "true" : "false";
  return number_text(numbers[0]);
}

// ATen passes a word as its place in an enumeration.
std::string word_of(const std::vector<std::string>& words, const std::vector<double>& numbers,
                    std::string_view name) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (numbers == std::vector<double>{double(i)}) return words[i];
  }
  throw Unfit(
      fmt::format("'{}' is {}; known: 0 to {}", name, fmt::join(numbers, ","), words.size() - 1));
}

std::string shape_text(const Dims& shape, std::size_t last) {
  const auto from = shape.end() - static_cast<std::ptrdiff_t>(std::min(last, shape.size()));
  return fmt::format("[{}]", fmt::join(from, shape.end(), ","));
}

// The extents alone that tell where elements lie.
Dims without_ones(Dims shape) {
  std::erase(shape, 1);
  return shape;
}

// Recorded axes count from the back where they are negative.
std::size_t axis_in(std::size_t rank, double recorded) {
  const double axis = recorded < 0 ? recorded + double(rank) : recorded;
  if (axis < 0 || axis >= double(rank)) {
    throw Unfit(fmt::format("axis {} is recorded for {} axes", recorded, rank));
  }
  return static_cast<std::size_t>(axis);
}

/// Tries the rows for one record.
class RecordReading {
 public:
  RecordReading(const DumpRecord& record, const ReadNumbers& read, Results results,
                TakenDTypes dtypes)
      : record_(record), read_(read), results_(results), dtypes_(dtypes) {}

  // What is there of the condition holds.
  bool holds(const OpRow& row) const {
    for (const RecordedCondition& condition : row.where) {
      const DumpEntry* found = entry_called(record_, Side::input, condition.name);
      if (found == nullptr && condition.is_needed) return false;
      if (found != nullptr && numbers(*found) != condition.values) return false;
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

  // What our own dumps say of themselves, as far as it is true.
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

  std::vector<double> numbers(const DumpEntry& entry) const {
    if (!entry.problem.empty()) throw Unfit(fmt::format("{}: {}", entry.path, entry.problem));
    if (entry.desc.elements() > kMostNumbers) {
      throw Unfit(fmt::format("{} has {} numbers", entry.path, entry.desc.elements()));
    }
    return read_(entry);
  }

  // Empty: not recorded.
  std::vector<double> numbers_called(const std::string& name) const {
    const DumpEntry* found = entry_called(record_, Side::input, name);
    return found == nullptr ? std::vector<double>{} : numbers(*found);
  }

  double number_called(const std::string& name) const {
    const std::vector<double> all = numbers_called(name);
    if (all.size() != 1) throw Unfit(fmt::format("'{}' is not recorded", name));
    return all[0];
  }

  std::string kept_text(Dims shape, const AttrSource& source) const {
    const std::vector<double> axes = numbers_called(source.along);
    if (axes.empty()) shape.assign(shape.size(), 1);
    for (const double axis : axes) shape[axis_in(shape.size(), axis)] = 1;
    return shape_text(shape, shape.size());
  }

  // Of results, or of inputs.
  std::string extents_text(const AttrSource& source) const {
    std::string name = source.from.names.at(0);
    name.pop_back();
    const double axis = number_called(source.along);
    std::vector<std::int64_t> extents;
    for (int i = 0;; ++i) {
      const DumpEntry* found = entry_called(record_, Side::output, name + std::to_string(i));
      if (found == nullptr) break;
      const Dims& shape = found->desc.shape;
      extents.push_back(shape[axis_in(shape.size(), axis)]);
    }
    return fmt::format("[{}]", fmt::join(extents, ","));
  }

  // Before and after the first input, from the last axis on.
  std::string borders_text(const OpUse& use, const Dims& whole, const AttrSource& source) const {
    const Dims inner = shape_of(use, 0, tensor_of(record_, Side::input, use.inputs.at(0)));
    const std::size_t axis = axis_in(whole.size(), number_called(source.along));
    if (inner.size() != whole.size()) throw Unfit("a part has other axes than the whole");
    double start = number_called(source.start);
    if (start < 0) start = std::max(0.0, start + double(whole[axis]));
    const auto before = static_cast<std::int64_t>(std::min(start, double(whole[axis])));
    std::vector<std::int64_t> borders(2 * (whole.size() - axis), 0);
    borders[borders.size() - 2] = before;
    borders[borders.size() - 1] = whole[axis] - before - inner[axis];
    return fmt::format("[{}]", fmt::join(borders, ","));
  }

  // The shape that input `i` is taken in.
  Dims shape_of(const OpUse& use, std::size_t i, const DumpEntry& entry) const {
    Dims shape = entry.desc.shape;
    if (i < use.inputs.size() && !use.inputs[i].new_axis.empty()) {
      const std::size_t axis = axis_in(shape.size() + 1, number_called(use.inputs[i].new_axis));
      shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), 1);
    }
    return shape;
  }

  // Empty: not recorded.
  std::optional<std::string> attr_text(const OpUse& use, const AttrSpec& spec,
                                       const AttrSource& source) const {
    if (source.kind == AttrSource::constant) return source.constant_text;
    if (source.kind == AttrSource::recorded || source.kind == AttrSource::complement) {
      const DumpEntry* found = find_entry(record_, Side::input, source.from);
      if (found == nullptr) return std::nullopt;
      std::vector<double> values = numbers(*found);
      if (!source.words.empty()) return word_of(source.words, values, found->name);
      if (source.kind == AttrSource::complement) {
        for (double& value : values) value = 1 - value;
      }
      return value_text(spec, values);
    }
    if (source.kind == AttrSource::extents) return extents_text(source);
    const DumpEntry* of = find_entry(record_, Side::input, source.from);
    if (of == nullptr) of = find_entry(record_, Side::output, source.from);
    if (of == nullptr) {
      throw Unfit(fmt::format("{} is not recorded", fmt::join(source.from.names, " or ")));
    }
    if (source.kind == AttrSource::dtype) return std::string(name(of->desc.dtype));
    if (source.kind == AttrSource::kept) return kept_text(of->desc.shape, source);
    if (source.kind == AttrSource::borders) return borders_text(use, of->desc.shape, source);
    if (source.kind == AttrSource::rows) {
      return of->desc.shape.empty() ? "1" : std::to_string(of->desc.shape[0]);
    }
    return shape_text(of->desc.shape, source.kind == AttrSource::plane ? 2 : of->desc.shape.size());
  }

  // In fp64 numbers are not rounded to fp32 as those of a case are.
  Attrs attrs_of(const OpUse& use, DType dtype) const {
    Attrs attrs(use.op->attrs);
    for (const auto& [attr, source] : use.attrs) {
      const auto spec = std::find_if(use.op->attrs.begin(), use.op->attrs.end(),
                                     [&name = attr](const AttrSpec& s) { return s.name == name; });
      const std::optional<std::string> text = attr_text(use, *spec, source);
      if (text) attrs.set(use.op->attrs, attr, *text);
      const bool is_number = std::holds_alternative<double>(spec->default_value);
      if (text && is_number && dtype == DType::fp64)
        attrs.put(attr, std::strtod(text->c_str(), nullptr));
      const bool is_needed = std::find(use.needs.begin(), use.needs.end(), attr) != use.needs.end();
      if (!text && is_needed) throw Unfit(fmt::format("'{}' is not recorded", attr));
    }
    return attrs;
  }

  // The dtype that all inputs without one of their own are taken in: the widest floating one, as
  // statistics in fp32 beside activations in fp16.
  static DType common_dtype(const Op& op, std::span<const DumpEntry* const> inputs) {
    std::optional<DType> widest;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const DType dtype = inputs[i]->desc.dtype;
      if (op.input(i).has_own_dtype() || inputs[i]->kind == EntryKind::scalar) continue;
      const bool both_half = widest && size_of(*widest) == 2 && size_of(dtype) == 2;
      if (both_half && *widest != dtype && is_floating(dtype)) {
        widest = DType::fp32;
      } else if (!widest || (is_floating(dtype) && size_of(dtype) > size_of(*widest))) {
        widest = dtype;
      }
    }
    return widest.value_or(DType::fp32);
  }

  // The dtype that the operator's rules are asked for: the reference takes fp64 and whole numbers
  // where it takes fp32.
  DType checked_dtype(const std::vector<DType>& dtypes, DType dtype) const {
    if (dtypes_ == TakenDTypes::of_variants) return dtype;
    const auto takes = [&](DType d) {
      return std::find(dtypes.begin(), dtypes.end(), d) != dtypes.end();
    };
    const bool is_exact_in_fp64 = dtype == DType::fp64 || dtype == DType::int64 ||
                                  dtype == DType::int32 || dtype == DType::boolean;
    return is_exact_in_fp64 && !takes(dtype) && takes(DType::fp32) ? DType::fp32 : dtype;
  }

  // A number is compared in the dtype of the tensor, and else not rounded to it.
  static DType operand_dtype(const Op& op, DType dtype) {
    return op.exact_reference != nullptr && is_floating(dtype) ? dtype : DType::fp64;
  }

  Problem problem(const OpUse& use, std::span<const DumpEntry* const> inputs) const {
    const Op& op = *use.op;
    const DType dtype = common_dtype(op, inputs);
    std::vector<Dims> shapes;
    std::vector<DType> recorded;
    std::vector<std::optional<DType>> checked;
    std::size_t rank = 0;
    check_input_count(op, inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const bool follows = !op.input(i).has_own_dtype();
      shapes.push_back(shape_of(use, i, *inputs[i]));
      recorded.push_back(follows ? dtype : inputs[i]->desc.dtype);
      checked.push_back(checked_dtype(follows ? op.dtypes : op.input(i).dtypes, recorded.back()));
      if (follows && inputs[i]->kind == EntryKind::scalar) recorded[i] = operand_dtype(op, dtype);
      if (follows) rank = std::max(rank, inputs[i]->desc.shape.size());
    }
    const Attrs attrs = attrs_of(use, dtype);
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

  // Axes of extent 1 do not move elements, but a variant writes its own.
  bool is_alike(const Dims& recorded, const Dims& ours) const {
    if (recorded == ours) return true;
    return dtypes_ == TakenDTypes::of_reference && without_ones(recorded) == without_ones(ours);
  }

  // Results are judged in the dtype in which they are recorded: a sum of fp16 may be fp32.
  void adopt_outputs(RecordedCall& call) const {
    bool is_any = false;
    for (std::size_t i = 0; i < call.outputs.size(); ++i) {
      if (call.outputs[i] == nullptr) continue;
      const DumpEntry& found = tensor_of(record_, Side::output, {{call.outputs[i]->name}, false});
      TensorDesc& desc = call.problem.outputs[i];
      if (!is_alike(found.desc.shape, desc.shape)) {
        throw Unfit(fmt::format("output {} is {}, and of {} {}", found.name,
                                to_string(found.desc.shape), call.problem.op->name,
                                to_string(desc.shape)));
      }
      if (found.desc.dtype != desc.dtype && call.problem.op->exact_reference != nullptr) {
        throw Unfit(fmt::format("output {} is {}, and of {} {}", found.name, name(found.desc.dtype),
                                call.problem.op->name, name(desc.dtype)));
      }
      if (found.desc.dtype == DType::boolean && call.problem.op->exact_reference == nullptr) {
        throw Unfit(fmt::format("output {} is a mask, and of {} a number", found.name,
                                call.problem.op->name));
      }
      desc.dtype = found.desc.dtype;
      is_any = true;
    }
    if (!is_any && results_ == Results::recorded) throw Unfit("no output is recorded");
  }

  const DumpRecord& record_;
  const ReadNumbers& read_;
  Results results_;
  TakenDTypes dtypes_;
};

// The parts of a row that fit; an output that was not wanted is not recorded.
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
      // Then it is looked at as a dump of anybody.
    }
  }
  const std::vector<const OpRow*> rows = table.find(record.op);
  for (const Numbers numbers : {Numbers::as_attributes, Numbers::as_tensors}) {
    // Numbers are operands for the reference alone.
    if (numbers == Numbers::as_tensors && dtypes != TakenDTypes::of_reference) break;
    for (const OpRow* row : rows) {
      found.is_known = true;
      if (row->is_random) {
        found.is_random = true;
        return found;
      }
      std::string obstacle;
      try {
        if (!reading.holds(*row)) {
          if (found.obstacle.empty()) found.obstacle = "it is used in a way that is not known";
          continue;
        }
        found.calls = parts_of(reading, *row, numbers, obstacle);
      } catch (const Unfit& error) {
        obstacle = error.what();
      }
      if (!found.calls.empty()) return found;
      if (!obstacle.empty()) found.obstacle = obstacle;  // later rows are the more general ones
    }
  }
  if (!found.is_known) found.obstacle = "no operator of that name is known";
  return found;
}

}  // namespace opbench
