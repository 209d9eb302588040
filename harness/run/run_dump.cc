#include "harness/run/run_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <variant>

#include "dump/dump_writer.h"
#include "harness/plan/case.h"
#include "harness/run/task_dumps.h"
#include "kernels/foreign/device_type.h"
#include "tensor/parallel.h"

namespace opbench {

std::string note_text(std::string text) {
  constexpr std::size_t kLongest = 1000;
  std::erase(text, '\0');
  if (text.size() > kLongest) text.resize(kLongest);
  return text;
}

NodeDump::NodeDump(DumpWriter& writer, const OpenUnit& open, std::size_t variant, std::size_t node)
    : writer_(writer),
      workspace_(open.workspace()),
      loaded_(open.unit().record.get()),
      variant_(open.variant(variant)),
      node_(variant_.graph->nodes[node]),
      kernel_(*variant_.selection->kernels[node]) {}

namespace {

// A modelled NPU counts as an NPU.
DeviceType device_of(const Kernel& kernel) {
  constexpr int kCuda = 2, kNpu = 12;  // of DLPack
  const int type = device_type_of(kernel);
  if (kernel.provider == Provider::npu || type == kNpu) return DeviceType::npu;
  return type == kCuda ? DeviceType::cuda : DeviceType::cpu;
}

}  // namespace

void NodeDump::begin(std::vector<Note> notes, std::optional<int> seq) {
  notes.push_back({"opbench_kernel", std::string(kernel_.name)});
  notes.push_back(call_note(node_.problem));
  if (!node_.name.empty()) notes.push_back({"opbench_task", node_.name});
  if (!node_.cause.empty()) notes.push_back({"opbench_cause", node_.cause});
  const DeviceType device = device_of(kernel_);
  if (loaded_ == nullptr) {
    writer_.begin_record(op().ir_name, device, notes, seq);
    write_inputs();
  } else if (!writer_.is_in_record(loaded_->op, loaded_->seq)) {
    writer_.begin_record(loaded_->op, device, notes, loaded_->seq);
  }
}

void NodeDump::write_inputs() {
  for (std::size_t i = 0; i < node_.inputs.size(); ++i) {
    writer_.write_input(op().input_path(i), node_.problem.inputs[i],
                        workspace_.at(variant_, node_.inputs[i]));
  }
  write_attributes(writer_, node_.problem.attrs);
}

void NodeDump::write_outputs() {
  for (std::size_t i = 0; i < node_.outputs.size(); ++i) {
    const std::string name =
        loaded_ == nullptr ? op().output_path(node_.problem, i) : loaded_->outputs[i];
    if (name.empty()) continue;
    writer_.write_output(name, node_.problem.outputs[i], workspace_.at(variant_, node_.outputs[i]));
  }
}

namespace {

void write_attribute(DumpWriter& writer, const std::string& name, const AttrValue& value) {
  if (const auto* number = std::get_if<double>(&value)) writer.write_input_scalar(name, *number);
  if (const auto* whole = std::get_if<std::int64_t>(&value))
    writer.write_input_scalar(name, *whole);
  if (const auto* flag = std::get_if<bool>(&value)) writer.write_input_scalar(name, *flag);
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value))
    writer.write_input_list(name, *list);
}

std::vector<Note> notes_of(const Record& record, const Values& values) {
  std::vector<Note> notes = {{"opbench_case", record.case_id},
                             {"opbench_variant", record.variant},
                             {"opbench_status", std::string(name(record.status))}};
  if (!record.reason.empty()) notes.push_back({"opbench_reason", note_text(record.reason)});
  if (values.has_corners) {
    notes.push_back({"opbench_values",
                     fmt::format("those of the verification that failed, seed {}", values.seed)});
  }
  return notes;
}

// Fills outputs with NaN, so that elements that the node does not write are visible.
void poison_outputs(const OpenUnit& open, std::size_t i, std::size_t node) {
  const UnitVariant& variant = open.variant(i);
  for (const std::size_t output : variant.graph->nodes[node].outputs) {
    open.workspace().poison(variant, output);
  }
}

// Runs a node and returns its exception.
std::exception_ptr run_node(const OpenUnit& open, std::size_t i, std::size_t node) {
  try {
    with_threads(open.threads(), [&] { open.bound(i).run_node(node); });
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace

void write_attributes(DumpWriter& writer, const Attrs& attrs) {
  for (const auto& [name, value] : attrs.values()) write_attribute(writer, name, value);
}

Note call_note(const Problem& problem) {
  return {"opbench_call", note_text(case_id(case_of(problem)))};
}

bool DumpTargets::has_failed() const {
  return (records != nullptr && records->has_failed()) || (tasks != nullptr && tasks->has_failed());
}

void dump_variant(const DumpTargets& targets, const OpenUnit& open, std::size_t i,
                  const Values& values, const Record& record) {
  const std::vector<Note> notes = notes_of(record, values);
  const bool is_prepared = open.is_prepared(i);
  TaskDumps* const tasks =
      is_prepared && targets.tasks != nullptr && targets.tasks->takes(open.unit()) ? targets.tasks
                                                                                   : nullptr;
  if (tasks != nullptr) tasks->begin_model(open, i);
  const std::size_t nodes = is_prepared ? open.bound(i).size() : 1;
  for (std::size_t n = 0; n < nodes; ++n) {
    if (is_prepared && open.bound(i).is_skipped(n)) continue;
    std::optional<NodeDump> dump;
    if (targets.records != nullptr) dump.emplace(*targets.records, open, i, n).begin(notes);
    if (!is_prepared) return;
    poison_outputs(open, i, n);
    if (tasks != nullptr) tasks->begin_task(open, i, n);
    const std::exception_ptr failure = run_node(open, i, n);
    if (dump) dump->write_outputs();
    if (tasks != nullptr) tasks->end_task(open, i, n);
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace opbench
