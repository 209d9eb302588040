#include "harness/run/run_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <variant>

#include "tensor/parallel.h"

namespace opbench {
namespace {

void write_attribute(DumpWriter& writer, const std::string& name, const AttrValue& value) {
  // Words and lists have no place among the dumper's scalars; they are in the record's note.
  if (const auto* number = std::get_if<double>(&value)) writer.write_input_scalar(name, *number);
  if (const auto* whole = std::get_if<std::int64_t>(&value))
    writer.write_input_scalar(name, *whole);
  if (const auto* flag = std::get_if<bool>(&value)) writer.write_input_scalar(name, *flag);
}

// HDF5 has no NUL in texts and little room for them.
std::string note_text(std::string text) {
  constexpr std::size_t kLongest = 1000;
  std::erase(text, '\0');
  if (text.size() > kLongest) text.resize(kLongest);
  return text;
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

/// One node and its record.
class NodeDump {
 public:
  NodeDump(DumpWriter& writer, const OpenItem& open, std::size_t runnable, std::size_t node)
      : writer_(writer),
        workspace_(open.workspace()),
        runnable_(open.runnable(runnable)),
        node_(runnable_.graph->nodes[node]),
        kernel_(*runnable_.selection->kernels[node]) {}

  void begin(std::vector<Note> notes) {
    const bool is_npu = kernel_.provider == Provider::npu;
    notes.push_back({"opbench_kernel", std::string(kernel_.name)});
    if (!node_.name.empty()) notes.push_back({"opbench_task", node_.name});
    if (!node_.cause.empty()) notes.push_back({"opbench_cause", node_.cause});
    writer_.begin_record(op().ir_name, is_npu ? DeviceType::npu : DeviceType::cpu, notes);
    for (std::size_t i = 0; i < node_.inputs.size(); ++i) {
      writer_.write_input(op().input_path(i), node_.problem.inputs[i],
                          workspace_.at(runnable_, node_.inputs[i]));
    }
    for (const auto& [name, value] : node_.problem.attrs.values()) {
      write_attribute(writer_, name, value);
    }
    for (const std::size_t output : node_.outputs) workspace_.poison(runnable_, output);
  }

  void write_outputs() {
    for (std::size_t i = 0; i < node_.outputs.size(); ++i) {
      writer_.write_output(op().output_path(node_.problem, i), node_.problem.outputs[i],
                           workspace_.at(runnable_, node_.outputs[i]));
    }
  }

 private:
  const Op& op() const { return *node_.problem.op; }

  DumpWriter& writer_;
  const Workspace& workspace_;
  const Runnable& runnable_;
  const Node& node_;
  const Kernel& kernel_;
};

}  // namespace

void dump_runnable(DumpWriter& writer, const OpenItem& open, std::size_t i, const Values& values,
                   const Record& record) {
  const std::vector<Note> notes = notes_of(record, values);
  const bool is_prepared = open.is_prepared(i);
  const std::size_t nodes = is_prepared ? open.bound(i).size() : 1;
  for (std::size_t n = 0; n < nodes; ++n) {
    if (is_prepared && open.bound(i).is_skipped(n)) continue;
    NodeDump dump(writer, open, i, n);
    dump.begin(notes);
    if (!is_prepared) return;
    std::exception_ptr failure;
    try {
      with_threads(open.threads(), [&] { open.bound(i).run_node(n); });
    } catch (...) {
      failure = std::current_exception();
    }
    dump.write_outputs();
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace opbench
