#include "profiles/profiled_case.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/plan/recorded_call.h"
#include "profiles/named_operator.h"
#include "profiles/profiled_tensor.h"
#include "tensor/error.h"

namespace opbench {
namespace {

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
                                 const OpTable& table, Results results, std::string& obstacle) {
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
  RecordedCalls found = calls_of(record, table, numbers, results);
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

// Tries candidate attributes; sets the case of the first that fit, with results as they are
// recorded or flattened.
void try_row(const ProfiledOperator& one, const OpRow& row, const OpTable& table, Results results,
             BuiltCase& built) {
  const OpUse& use = row.uses.front();
  const NamedOperator record = named_operator(one, use);
  if (record.results == Results::unknown) results = Results::unknown;
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
    auto call = call_of(record, attrs, table, results, built.obstacle);
    if (!call) continue;
    built.spec = std::move(call->spec);
    built.inputs = std::move(call->inputs);
    built.outputs = std::move(call->outputs);
    built.are_attrs_known = are_known;
    built.notes.insert(built.notes.end(), record.notes.begin(), record.notes.end());
    if (results == Results::flattened) built.notes.emplace_back("results are recorded as one axis");
    if (!are_known) {
      built.notes.push_back(attrs.empty()
                                ? "attributes unknown: defaults are used"
                                : "attributes unknown; these fit the shapes: " + to_string(attrs));
    }
    return;
  }
}

bool has_one_axis(const std::vector<ProfiledTensor>& tensors) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const ProfiledTensor& tensor) { return tensor.storage.size() == 1; });
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
      if (row->uses.size() == 1) try_row(one, *row, table, Results::recorded, built);
      if (built.spec) break;
    }
    for (const OpRow* row : rows) {
      if (built.spec || !has_one_axis(one.outputs)) break;
      if (row->uses.size() == 1) try_row(one, *row, table, Results::flattened, built);
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
