#include "harness/run/new_record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "harness/plan/case_selection.h"
#include "harness/plan/selected_kernels.h"
#include "tensor/processor.h"
#include "text/program.h"

namespace opbench {
namespace {

// "8x64" or, if inputs differ, "scalar,8x64".
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

// "beta=2" for attributes that differ from their default.
std::string changed_attributes(const Case& c) {
  std::string text;
  for (const AttrSpec& spec : c.op->attrs) {
    const AttrValue& value = c.attrs.values().at(std::string(spec.name));
    if (value == spec.default_value) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", spec.name, to_string(value));
  }
  return text;
}

std::string kernel_summary(const PlannedStep& step) {
  std::string text;
  std::set<std::string> seen;
  for (const Kernel* kernel : step.selection.kernels) {
    if (!seen.insert(kernel->key()).second) continue;
    text += fmt::format("{}{}", text.empty() ? "" : "+", kernel->key());
  }
  return text;
}

std::string first_shape(const PlannedStep& step) {
  for (const GraphTensor& tensor : step.graph.tensors) {
    if (tensor.role == GraphTensor::input) return to_string(tensor.desc.shape);
  }
  return {};
}

// Notes of the kernels about their times.
std::string notes(const Graph& graph, const SelectedKernels& variant) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < variant.kernels.size() && variant.refusal.empty(); ++i) {
    const std::string text = note(*variant.kernels[i], graph.nodes[i].problem);
    if (!text.empty()) seen.insert(text);
  }
  return fmt::format("{}", fmt::join(seen, "; "));
}

using Words = std::vector<std::string>;

// Makes --set N=8 --set C=4 from "N=8,C=4".
void add_sets(const std::string& symbols, Words& words) {
  for (std::size_t start = 0; start < symbols.size();) {
    const std::size_t end = std::min(symbols.find(',', start), symbols.size());
    words.insert(words.end(), {"--set", symbols.substr(start, end - start)});
    start = end + 1;
  }
}

// Adds the flags that add kernels from outside, each once.
void add_origins(const SelectedKernels& variant, Words& words) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const Kernel* kernel : variant.kernels) {
    const auto& [flag, value, is_device] = kernel->origin;
    if (flag.empty() || !seen.emplace(flag, value).second) continue;
    words.insert(words.end(), {std::string(flag), std::string(value)});
  }
}

// Sets the fields that a case states. Returns the words of a command line that select it.
Words describe(const WorkUnit& unit, const SelectedKernels& variant, Record& record) {
  const PlannedCase& planned = *unit.planned_case;
  const Case& c = planned.spec;
  const TensorDesc& first = planned.graph.tensors.front().desc;
  record.case_name = c.name;
  record.op = c.op->name;
  if (!variant.kernels.empty()) record.provider = name(variant.provider());
  record.kernels = variant.kernel_names();
  record.shape = shapes_text(c);
  record.attributes = changed_attributes(c);
  record.dtype = name(c.dtype);
  record.format = name(first.format);
  record.backward = c.backward;
  record.count = c.count;
  record.weight_us = c.weight_us;
  record.elements = static_cast<double>(first.elements());
  Words words = {"--case", record.case_id};
  if (unit.record) words = unit.record->selecting;
  words.insert(words.end(), {"--variant", variant.variant});
  add_origins(variant, words);
  return words;
}

// Like the overload above, for a step of a context.
Words describe(const PlannedContext& planned, const PlannedStep& step, Record& record) {
  record.op = planned.spec.name;
  record.provider = name(Provider::npu);
  record.kernels = kernel_summary(step);
  record.shape = first_shape(step);
  record.dtype = name(planned.dtype);
  record.format = "planned";
  record.backward = planned.spec.backward;
  record.elements = static_cast<double>(step.spec.samples);
  const std::string file = planned.spec.origin.substr(0, planned.spec.origin.rfind(':'));
  Words words = {"--cases", file, "--filter", pattern_of_name(planned.spec.name)};
  add_sets(planned.spec.symbols, words);
  words.insert(words.end(), {"--dtype", record.dtype, "--variant", step.spec.name});
  if (planned.loss_scale) {
    words.insert(words.end(), {"--loss-scale", fmt::format("{}", *planned.loss_scale)});
  }
  return words;
}

std::string line_that_repeats(const Record& record, Words selecting) {
  Words words = {program_name()};
  std::move(selecting.begin(), selecting.end(), std::back_inserter(words));
  words.insert(words.end(), {"--threads", fmt::format("{}", record.threads)});
  if (record.cold) words.emplace_back("--cold");
  if (record.input_copies > 1) {
    words.insert(words.end(), {"--rotate-inputs", fmt::format("{}", record.input_copies)});
  }
  if (record.isa != supported_isas().front()) words.insert(words.end(), {"--isa", record.isa});
  return shell_line(words);
}

}  // namespace

Record new_record(const WorkUnit& unit, std::size_t index, int threads, const RunOptions& options) {
  const Traffic traffic = unit.graph(index).traffic();
  Record record;
  record.case_id = unit.id;
  record.variant = unit.selection(index).variant;
  record.threads = threads;
  record.isa = current_isa();
  record.cold = options.cold;
  record.input_copies = options.input_copies;
  record.bytes = traffic.bytes();
  record.operations = traffic.operations;
  record.reproduce = line_that_repeats(
      record, unit.is_context() ? describe(*unit.context, unit.context->steps[index], record)
                                : describe(unit, unit.selection(index), record));
  return record;
}

std::string remarks_on(const WorkUnit& unit, std::size_t index) {
  return unit.is_context() ? "" : notes(unit.graph(index), unit.selection(index));
}

void apply_expectation(const Case& c, Record& record) {
  const std::optional<ExpectedFailure>& expected = c.expected_failure;
  if (!expected || !expected->is_of(record.variant) || !expected->is_of(c.dtype)) return;
  const std::string& why = expected->reason;
  if (record.status == Status::failed || record.status == Status::xfailed) {
    record.status = Status::xfailed;
    record.reason = fmt::format("{} ({})", why, record.reason);
  } else if (record.status == Status::passed || record.status == Status::mistrusted ||
             record.status == Status::suspicious) {
    record.status = Status::failed;
    record.reason = fmt::format("{}{} expects it to fail: {}", kUnexpectedPass, c.origin, why);
    record.times.reset();
  }
}

}  // namespace opbench
