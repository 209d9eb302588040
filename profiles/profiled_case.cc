#include "profiles/profiled_case.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/plan/recorded_call.h"
#include "profiles/profiled_tensor.h"
#include "tensor/error.h"

namespace opbench {
namespace {

/// An operator in the form of a dump record, for lookup in the operator table.
struct NamedOperator {
  DumpRecord record;
  Results results = Results::recorded;
  std::vector<std::size_t> places;  ///< of its entries among the tensors of their side
  std::string obstacle;
};

void add_tensor(NamedOperator& named, Side side, const std::string& name,
                const ProfiledTensor& tensor, const Dims& shape) {
  DumpEntry& entry = named.record.entries.emplace_back();
  entry.name = entry.path = name;
  entry.side = side;
  entry.kind = EntryKind::tensor;
  entry.device = DeviceType::npu;
  entry.desc = describe(tensor.dtype, shape);
}

// The shape of a sum with extents of 1 for the summed axes. The axes come from the log, or from the
// shapes.
Dims with_axes_kept(const ProfiledOperator& one, const Dims& y) {
  const Dims& x = *one.inputs[0].logical;
  const auto axes = one.attrs ? one.attrs->find("axes") : NamedNumbers::const_iterator();
  if (!one.attrs || axes == one.attrs->end()) return with_reduced_axes(x, y);
  Dims kept = x;
  const auto rank = static_cast<double>(x.size());
  for (const double axis : axes->second) {
    const double place = axis < 0 ? axis + rank : axis;
    if (!(place >= 0 && place < rank)) return with_reduced_axes(x, y);
    kept[static_cast<std::size_t>(place)] = 1;
  }
  return element_count(kept) == element_count(y) ? kept : with_reduced_axes(x, y);
}

// The optional input of that name; null: no such input.
const TensorSpec* optional_input(const OpUse& use, const std::string& name) {
  for (std::size_t i = 0; i < use.inputs.size(); ++i) {
    const RecordedName& input = use.inputs[i];
    const auto found = std::find(input.names.begin(), input.names.end(), name);
    if (input.is_optional && found != input.names.end()) return &use.op->input(i);
  }
  return nullptr;
}

bool may_be(const TensorSpec& input, DType dtype) {
  return input.dtypes.empty() ||
         std::find(input.dtypes.begin(), input.dtypes.end(), dtype) != input.dtypes.end();
}

void add_side(NamedOperator& named, const ProfiledOperator& one, const OpUse& use, Side side,
              const std::vector<std::string>& names) {
  const auto& tensors = side == Side::input ? one.inputs : one.outputs;
  const bool is_sum = one.type.starts_with("ReduceSum");
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    std::string name = tensor_name(names, i + left_out);
    const ProfiledTensor& tensor = tensors[i];
    // An optional input that is not given is without a shape, or left out: the next tensor then has
    // a dtype that it cannot have.
    const TensorSpec* optional = side == Side::input ? optional_input(use, name) : nullptr;
    if (optional != nullptr && tensor.storage.empty()) continue;
    while (optional != nullptr && !may_be(*optional, tensor.dtype)) {
      name = tensor_name(names, i + ++left_out);
      optional = optional_input(use, name);
    }
    if (name.empty() || name.starts_with('=') || tensor.is_absent) continue;
    if (!tensor.problem.empty() || !tensor.logical) {
      const std::string why =
          tensor.problem.empty()
              ? fmt::format("the logical shape of {} {} is not known", opbench::name(tensor.format),
                            to_string(tensor.storage))
              : tensor.problem;
      if (named.obstacle.empty()) {
        named.obstacle = fmt::format("{} {}: {}", side == Side::input ? "input" : "output", i, why);
      }
      continue;
    }
    const bool is_reduced =
        is_sum && side == Side::output && !one.inputs.empty() && one.inputs[0].logical.has_value();
    const Dims shape = is_reduced ? with_axes_kept(one, *tensor.logical) : *tensor.logical;
    add_tensor(named, side, name, tensor, shape);
    named.places.push_back(i);
  }
}

using Names = std::vector<std::string>;

Names first_names(const std::vector<RecordedName>& wanted) {
  Names names;
  for (const RecordedName& one : wanted) names.push_back(one.names.empty() ? "" : one.names[0]);
  return names;
}

// Adds results that were computed in place: a missing result with the name of an input is that
// input.
void add_results_in_place(NamedOperator& named, const Names& results) {
  for (const std::string& result : results) {
    for (std::size_t i = 0; i < named.record.entries.size(); ++i) {
      const DumpEntry& entry = named.record.entries[i];
      if (entry.side != Side::input || entry.name != result) continue;
      DumpEntry same = entry;
      same.side = Side::output;
      named.record.entries.push_back(std::move(same));
      break;
    }
  }
}

NamedOperator named(const ProfiledOperator& one, const OpUse& use) {
  NamedOperator result;
  result.record.op = one.type;
  const ProfiledCall* known = find_profiled_call(one.type);
  // A row may state a result that depends on data wrongly, so that its name is not listed.
  const bool has_results = one.has_results && (known == nullptr || !known->outputs.empty());
  result.results = has_results ? Results::recorded : Results::unknown;
  add_side(result, one, use, Side::input,
           known != nullptr ? Names(known->inputs) : first_names(use.inputs));
  if (one.outputs.empty() && one.has_results)
    add_results_in_place(result, first_names(use.outputs));
  add_side(result, one, use, Side::output,
           known != nullptr ? Names(known->outputs) : first_names(use.outputs));
  if (known != nullptr && !one.inputs.empty()) {
    for (const std::string& name : known->scalars) {
      add_tensor(result, Side::input, name, one.inputs[0], {});
    }
  }
  return result;
}

using TensorPlaces = std::vector<std::optional<std::size_t>>;

// Places of the entries of a call among the operator's tensors of that side.
TensorPlaces places_of(const std::vector<const DumpEntry*>& entries, Side side,
                       const DumpRecord& record, const std::vector<std::size_t>& places) {
  TensorPlaces all;
  for (const DumpEntry* entry : entries) {
    all.emplace_back();
    if (entry == nullptr || entry->side != side) continue;
    const auto place = static_cast<std::size_t>(entry - record.entries.data());
    if (place < places.size()) all.back() = places[place];
  }
  return all;
}

/// An operator as a case, with the operator's tensors that the case uses.
struct FoundCall {
  Case spec;
  TensorPlaces inputs, outputs;
};

std::optional<FoundCall> call_of(const NamedOperator& named, const NamedNumbers& attrs,
                                 const OpTable& table, std::string& obstacle) {
  DumpRecord record = named.record;
  for (const auto& [name, values] : attrs) {
    DumpEntry& entry = record.entries.emplace_back();
    entry.name = entry.path = name;
    entry.side = Side::input;
    entry.kind = EntryKind::scalar;
    entry.desc = describe(DType::fp64, {std::ssize(values)});
  }
  const auto numbers = [&](const DumpEntry& entry) {
    const auto known = attrs.find(entry.name);
    if (known != attrs.end()) return known->second;
    throw Error(fmt::format("the number in the tensor '{}' is not known", entry.name));
  };
  RecordedCalls found = calls_of(record, table, numbers, named.results);
  if (found.calls.size() == 1) {
    const RecordedCall& call = found.calls[0];
    return FoundCall{case_of(call.problem),
                     places_of(call.inputs, Side::input, record, named.places),
                     places_of(call.outputs, Side::output, record, named.places)};
  }
  if (obstacle.empty()) obstacle = found.obstacle;
  return std::nullopt;
}

std::vector<Dims> shapes_on(const DumpRecord& record, Side side) {
  std::vector<Dims> shapes;
  for (const DumpEntry* entry : record.on(side)) shapes.push_back(entry->desc.shape);
  return shapes;
}

// Shapes of the inputs, in the order of the operator of opbench.
std::vector<Dims> operands(const DumpRecord& record, const OpUse& use) {
  std::vector<Dims> shapes;
  for (const RecordedName& wanted : use.inputs) {
    for (const DumpEntry& entry : record.entries) {
      const bool is_named =
          std::find(wanted.names.begin(), wanted.names.end(), entry.name) != wanted.names.end();
      if (is_named && entry.side == Side::input) shapes.push_back(entry.desc.shape);
    }
  }
  return shapes.empty() ? shapes_on(record, Side::input) : shapes;
}

bool has_attrs(const OpUse& use) {
  return std::any_of(use.attrs.begin(), use.attrs.end(), [](const auto& attr) {
    return attr.second.kind == AttrSource::recorded || attr.second.kind == AttrSource::complement;
  });
}

// Sets the storage format of the inputs if the operator supports it.
void set_format(Case& c, const ProfiledOperator& one, BuiltCase& built) {
  const auto stored = std::find_if(one.inputs.begin(), one.inputs.end(), [](const auto& tensor) {
    return is_private(tensor.format) && tensor.format != Format::FRACTAL_Z;
  });
  if (stored == one.inputs.end()) return;
  Case wanted = c;
  wanted.format = stored->format;
  try {
    problem_of(wanted);
    c = std::move(wanted);
  } catch (const Error&) {
    built.notes.push_back(fmt::format("stored as {}, which {} does not support here: runs as {}",
                                      name(stored->format), c.op->name, name(c.format)));
  }
}

void note_bounds(const ProfiledOperator& one, BuiltCase& built) {
  for (const auto* side : {&one.inputs, &one.outputs}) {
    const auto found = std::find_if(side->begin(), side->end(),
                                    [](const auto& tensor) { return tensor.is_upper_bound; });
    if (found == side->end()) continue;
    built.notes.push_back(fmt::format("{} of {} is read as {}: an upper bound of the channels",
                                      name(found->format), to_string(found->storage),
                                      to_string(*found->logical)));
    return;
  }
}

// True if the log has all attributes that the operator takes.
bool are_attrs_known(const ProfiledOperator& one, const OpUse& use) {
  if (!has_attrs(use)) return true;
  return one.attrs && std::none_of(use.attrs.begin(), use.attrs.end(), [&](const auto& attr) {
           const std::vector<std::string>& names = attr.second.from.names;
           return attr.second.kind == AttrSource::recorded &&
                  std::find_first_of(names.begin(), names.end(), one.unknown.begin(),
                                     one.unknown.end()) != names.end();
         });
}

LikelyAttrs likely_attrs(const DumpRecord& record, const OpUse& use) {
  const Shapes inputs = operands(record, use), outputs = shapes_on(record, Side::output);
  const bool are_there = inputs.size() + use.op->optional_inputs >= use.op->inputs.size() &&
                         !inputs.empty() && !outputs.empty();
  return use.op->known_as.likely && are_there ? use.op->known_as.likely(inputs, outputs)
                                              : LikelyAttrs();
}

// Tries candidate attributes; sets the case of the first that fit.
void try_row(const ProfiledOperator& one, const OpRow& row, const OpTable& table,
             BuiltCase& built) {
  const OpUse& use = row.uses.front();
  const NamedOperator record = named(one, use);
  if (!record.obstacle.empty()) {
    built.obstacle = record.obstacle;
    return;
  }
  std::vector<NamedNumbers> candidates;
  const bool are_known = are_attrs_known(one, use);
  if (!are_known) candidates = likely_attrs(record.record, use);
  candidates.emplace_back();
  for (NamedNumbers& attrs : candidates) {
    if (one.attrs) {
      for (const auto& [name, values] : *one.attrs) attrs[name] = values;
    }
    auto call = call_of(record, attrs, table, built.obstacle);
    if (!call) continue;
    built.spec = std::move(call->spec);
    built.inputs = std::move(call->inputs);
    built.outputs = std::move(call->outputs);
    built.are_attrs_known = are_known;
    if (!are_known) {
      built.notes.push_back(attrs.empty()
                                ? "attributes unknown: defaults are used"
                                : "attributes unknown; these fit the shapes: " + to_string(attrs));
    }
    return;
  }
}

}  // namespace

bool is_conversion(const ProfiledOperator& one) {
  if (one.inputs.empty() || one.outputs.empty()) return false;
  return one.type == "TransData" ||
         (one.type == "Identity" && one.inputs[0].format != one.outputs[0].format &&
          (is_private(one.inputs[0].format) || is_private(one.outputs[0].format)));
}

BuiltCase build_case(ProfiledOperator one, const LogicalShapes& shapes, const OpTable& table) {
  BuiltCase built;
  resolve(one, shapes);
  try {
    if (build_moved_case(one, built)) {
      if (built.spec) note_bounds(one, built);
      return built;
    }
    const std::vector<const OpRow*> rows = table.find(one.type);
    if (rows.empty()) built.obstacle = "no operator of that name is known";
    for (const OpRow* row : rows) {
      if (row->drawn != Drawn::not_at_all) {
        built.is_dropped = true;
        built.obstacle = "random";
        return built;
      }
      if (row->uses.size() == 1) try_row(one, *row, table, built);
      if (built.spec) break;
    }
    if (!built.spec) return built;
    built.obstacle.clear();
    note_bounds(one, built);
    set_format(*built.spec, one, built);
    problem_of(*built.spec);
  } catch (const Error& error) {
    built.spec.reset();
    built.obstacle = error.what();
  }
  return built;
}

}  // namespace opbench
