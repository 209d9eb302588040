#include "profiles/listed_parts.h"

#include "profiles/cann_operators.h"

namespace opbench {
namespace {

// Results are profiled without the shape of what they were made from: 23232 of 64,3,11,11.
void adopt_shape(ProfiledTensor& to, const ProfiledTensor& from) {
  if (!to.problem.empty() || !from.problem.empty() || !to.logical || !from.logical) return;
  if (element_count(*to.logical) == element_count(*from.logical)) to.logical = from.logical;
}

// Results of calls in traces are not recorded; some have the shape of an input.
void set_result(ProfiledOperator& one) {
  const CannOperator* known = find_cann_operator(one.type);
  if (known == nullptr || known->gives.empty() || !one.outputs.empty()) return;
  for (std::size_t i = 0; i < one.inputs.size(); ++i) {
    if (tensor_name(known->inputs, i) != known->gives) continue;
    one.outputs = {one.inputs[i]};
    one.has_results = true;
  }
}

}  // namespace

std::vector<ProfiledOperator> parts_of(const ProfiledOperator& one) {
  const CannOperator* known = find_cann_operator(one.type);
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
    ProfiledOperator part{known->each, {}, {one.outputs[i]}, one.attrs, one.unknown};
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

}  // namespace opbench
