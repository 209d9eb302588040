#include "profiles/case_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/op_table.h"

namespace opbench {
namespace {

// The profile lacks the shape that a result was made from: it has 23232, not 64,3,11,11.
void adopt_shape(ProfiledTensor& to, const ProfiledTensor& from) {
  if (!to.problem.empty() || !from.problem.empty() || !to.logical || !from.logical) return;
  if (element_count(*to.logical) == element_count(*from.logical)) to.logical = from.logical;
}

// Sets a result that has the shape of an input: traces do not record results.
void set_result(ProfiledOperator& one) {
  const ProfiledCall* known = find_profiled_call(one.type);
  if (known == nullptr || known->gives.empty() || !one.outputs.empty()) return;
  for (std::size_t i = 0; i < one.inputs.size(); ++i) {
    if (tensor_name(known->inputs, i) != known->gives) continue;
    one.outputs = {one.inputs[i]};
    one.has_results = true;
  }
}

}  // namespace

std::vector<ProfiledOperator> parts_of(const ProfiledOperator& one) {
  const ProfiledCall* known = find_profiled_call(one.type);
  if (known != nullptr && !known->into.empty()) {
    std::vector<ProfiledOperator> parts(known->into.size(), one);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      parts[i].type = known->into[i];
      set_result(parts[i]);
    }
    return parts;
  }
  if (known == nullptr || known->each.empty()) return {one};
  const std::size_t count = one.outputs.size();
  if (count == 0 || one.inputs.size() / count < known->lists) return {};
  std::vector<ProfiledOperator> parts;
  for (std::size_t i = 0; i < count; ++i) {
    ProfiledOperator part{std::string(known->each), {}, {one.outputs[i]}, one.attrs, one.unknown};
    for (std::size_t list = 0; list < known->lists; ++list) {
      part.inputs.push_back(one.inputs[list * count + i]);
    }
    for (std::size_t rest = known->lists * count; rest < one.inputs.size(); ++rest) {
      part.inputs.push_back(one.inputs[rest]);
      part.inputs.back().dtype = part.inputs[0].dtype;
    }
    adopt_shape(part.outputs[0], part.inputs[0]);
    parts.push_back(std::move(part));
  }
  return parts;
}

namespace {

ProfiledOperator operator_of(const HotOperator& hot) {
  ProfiledOperator one{hot.type, {}, {}, {}, {}};
  if (!hot.has_tensors) return one;
  one.inputs = tensors_of(hot.input_shapes, hot.input_dtypes, hot.input_formats);
  one.outputs = tensors_of(hot.output_shapes, hot.output_dtypes, hot.output_formats);
  return one;
}

ProfiledOperator operator_of(const LoggedCall& call) {
  ProfiledOperator one{call.op, tensors_of(call.inputs), tensors_of(call.outputs), {}, {}};
  // A complete line without attributes belongs to an operator that has no attributes.
  if (call.is_truncated) return one;
  one.attrs = attrs_of_log(call.op, call.attrs.value_or("{}"));
  const ProfiledCall* known = find_profiled_call(call.op);
  for (std::size_t i = 0; known != nullptr && i < call.inputs.size(); ++i) {
    const std::string name = tensor_name(known->inputs, i);
    if (!name.starts_with('=')) continue;
    const std::vector<double>& values = call.inputs[i].values;
    const bool is_there = call.inputs[i].dtype >= 0;
    if (!values.empty()) (*one.attrs)[name.substr(1)] = values;
    if (values.empty() && is_there) one.unknown.push_back(name.substr(1));
  }
  return one;
}

// The numbers among the arguments of a call, by the arguments' names.
NamedNumbers attrs_of_call(const TraceOperator& call) {
  const ProfiledCall* known = find_profiled_call(call.name);
  if (known == nullptr) return {};
  std::string text;
  std::string_view rest = call.input_values;
  for (std::size_t i = 0; !rest.empty(); ++i) {
    const std::size_t end = std::min(rest.find(';'), rest.size());
    const std::string name = tensor_name(known->inputs, i);
    if (name.starts_with('=') && end > 0) {
      text += fmt::format("{} = {}, ", name.substr(1), rest.substr(0, end));
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return attrs_of_log(call.name, text);
}

ProfiledOperator operator_of(const TraceOperator& call) {
  ProfiledOperator one{call.name, tensors_of(call.input_shapes, call.input_dtypes, ""), {}, {}, {}};
  one.has_results = false;
  for (ProfiledTensor& tensor : one.inputs) {
    // Arguments that are numbers, flags or None have no extents and no dtype of a tensor.
    tensor.is_absent = tensor.storage.empty() && !tensor.problem.empty();
  }
  if (!call.input_values.empty()) one.attrs = attrs_of_call(call);
  return one;
}

// A key of the fields that tables and logs have in common.
std::string signature(const ProfiledOperator& one) {
  std::string text = one.type;
  for (const ProfiledTensor& tensor : one.inputs) {
    if (!tensor.is_absent) {
      text += fmt::format(" {}:{}", to_string(tensor.storage), name(tensor.dtype));
    }
  }
  return text;
}

}  // namespace

CaseBuilder::CaseBuilder(const IngestResult& profile) {
  for (const HotOperator& one : profile.hot_spots.operators()) {
    if (one.has_tensors) learn(operator_of(one), in_us(one.time.total_ps));
  }
  for (const LoggedCall& call : profile.logs.calls()) {
    ProfiledOperator one = operator_of(call);
    learn(one, 0);
    if (!call.is_truncated) logged_[signature(one)].push_back({std::move(one), call.count});
  }
}

void CaseBuilder::learn(const ProfiledOperator& one, double weight) {
  if (is_conversion(one)) shapes_.learn(one.inputs[0], one.outputs[0], weight);
}

// Sets attributes and logical shapes from the logged call with the highest count.
void CaseBuilder::complete(RecordedOperator& found) const {
  const auto known = logged_.find(signature(found.one));
  if (known == logged_.end()) return;
  const auto& calls = known->second;
  const auto most = std::max_element(
      calls.begin(), calls.end(), [](const auto& a, const auto& b) { return a.count < b.count; });
  found.one.attrs = most->one.attrs;
  found.one.unknown = most->one.unknown;
  found.one.inputs = most->one.inputs;
  found.one.outputs = most->one.outputs;
  if (calls.size() > 1) {
    found.notes.push_back(
        fmt::format("attributes of the most frequent of {} logged calls", calls.size()));
  }
}

RecordedOperator CaseBuilder::find_operator(const HotOperator& hot) const {
  const ProfiledOperator one = operator_of(hot);
  RecordedOperator found{one, one, {}, {}, true};
  if (hot.type == "MemSet" || hot.type == "0") {
    found.obstacle = "sets memory";
  } else if (hot.core == "DSA_SQE" || hot.type.starts_with("DSA")) {
    found.obstacle = "random";
  } else {
    found.is_dropped = false;
    if (!hot.has_tensors) found.obstacle = "the profile has no shapes";
    if (hot.type.empty()) found.obstacle = "the profile has no types";
  }
  if (found.obstacle.empty()) complete(found);
  return found;
}

RecordedOperator CaseBuilder::find_operator(const LoggedCall& call) const {
  const ProfiledOperator one = operator_of(call);
  RecordedOperator found{one, one, {}, {}, false};
  if (call.is_truncated) found.obstacle = "the line is cut in the log";
  return found;
}

RecordedOperator CaseBuilder::find_operator(const TraceOperator& call) const {
  const ProfiledOperator one = operator_of(call);
  RecordedOperator found{one, one, {}, {}, false};
  if (!call.has_shapes) found.obstacle = "the trace has no shapes: record_shapes=True";
  if (call.input_dtypes.find("TensorList") != std::string::npos) {
    found.obstacle = "the trace does not have the tensors of a list";
  }
  return found;
}

BuiltCase CaseBuilder::build(const ProfiledOperator& one) const {
  return build_case(one, shapes_, OpTable::profiled());
}

namespace {

// Adds the results of the case if the profile recorded no results.
void set_results(NetworkOperator& made) {
  made.built.outputs.clear();
  for (const TensorDesc& desc : made.problem.outputs) {
    made.built.outputs.push_back(made.recorded.outputs.size());
    made.recorded.outputs.push_back(
        {false, desc.dtype, Format::ND, desc.shape, desc.shape, false, {}});
  }
}

}  // namespace

const NetworkOperator& NetworkOperators::add(const RecordedOperator& found) {
  all_.push_back(std::make_unique<NetworkOperator>());
  NetworkOperator& made = *all_.back();
  made.recorded = found.stored;
  made.built = built(found);
  if (made.built.spec) made.problem = problem_of(*made.built.spec);
  if (made.built.spec && !made.recorded.has_results) set_results(made);
  return made;
}

BuiltCase NetworkOperators::built(const RecordedOperator& found) const {
  BuiltCase built;
  const ProfiledCall* known = find_profiled_call(found.one.type);
  if (!found.obstacle.empty()) {
    built.obstacle = found.obstacle;
  } else if (known != nullptr && !known->part_of.empty()) {
    built.obstacle = fmt::format("a part of {}", known->part_of);
  } else if (known != nullptr && !known->each.empty()) {
    built.obstacle = "works on lists of tensors";
  } else if (known != nullptr && !known->into.empty()) {
    built.obstacle = "computes two gradients in one call";
  } else {
    built = builder_.build(found.one);
    built.notes.insert(built.notes.begin(), found.notes.begin(), found.notes.end());
  }
  return built;
}

}  // namespace opbench
