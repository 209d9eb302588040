#include "harness/run/new_record.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/plan/selection.h"
#include "tensor/isa.h"

namespace opbench {
namespace {

// "8x64" or, where inputs differ, "scalar,8x64".
std::string shapes_text(const Case& c) {
  const Dims& first = c.inputs.front().shape;
  const bool is_same = std::all_of(c.inputs.begin(), c.inputs.end(),
                                   [&](const CaseInput& input) { return input.shape == first; });
  std::string text = to_string(first);
  for (std::size_t i = 1; i < c.inputs.size() && !is_same; ++i) {
    text += fmt::format(",{}", to_string(c.inputs[i].shape));
  }
  return text;
}

// "beta=2" for what is not at its default.
std::string changed_attributes(const Case& c) {
  std::string text;
  for (const AttrSpec& spec : c.op->attrs) {
    const AttrValue& value = c.attrs.values().at(std::string(spec.name));
    if (value == spec.default_value) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", spec.name, to_string(value));
  }
  return text;
}

}  // namespace

Record new_record(const PlannedCase& planned, const Selection& selection, int threads,
                  bool is_cold) {
  const Case& c = planned.spec;
  const Traffic traffic = planned.graph.traffic();
  Record record;
  record.case_id = case_id(c);
  record.case_name = c.name;
  record.op = c.op->name;
  record.variant = selection.variant;
  if (!selection.kernels.empty()) record.provider = name(selection.provider());
  record.kernels = selection.kernel_names();
  record.shape = shapes_text(c);
  record.attributes = changed_attributes(c);
  record.dtype = name(c.dtype);
  record.format = name(planned.graph.tensors.front().desc.format);
  record.backward = c.backward;
  record.count = c.count;
  record.threads = threads;
  record.isa = current_isa();
  record.cold = is_cold;
  record.elements = static_cast<double>(planned.graph.tensors.front().desc.elements());
  record.bytes = traffic.bytes();
  record.operations = traffic.operations;
  record.reproduce = fmt::format(
      "opbench --case '{}' --variant {} --threads {}{}{}", record.case_id, selection.variant,
      threads, is_cold ? " --cold" : "",
      record.isa == supported_isas().front() ? "" : fmt::format(" --isa {}", record.isa));
  return record;
}

}  // namespace opbench
