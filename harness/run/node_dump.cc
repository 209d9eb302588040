#include "harness/run/node_dump.h"

#include <algorithm>

#include "harness/run/run_dump.h"

namespace opbench {

std::string note_text(std::string text) {
  constexpr std::size_t kLongest = 1000;
  std::erase(text, '\0');
  if (text.size() > kLongest) text.resize(kLongest);
  return text;
}

NodeDump::NodeDump(DumpWriter& writer, const OpenItem& open, std::size_t runnable, std::size_t node)
    : writer_(writer),
      workspace_(open.workspace()),
      loaded_(open.item().record.get()),
      runnable_(open.runnable(runnable)),
      node_(runnable_.graph->nodes[node]),
      kernel_(*runnable_.selection->kernels[node]) {}

void NodeDump::begin(std::vector<Note> notes, std::optional<int> seq) {
  const bool is_npu = kernel_.provider == Provider::npu;
  notes.push_back({"opbench_kernel", std::string(kernel_.name)});
  notes.push_back(call_note(node_.problem));
  if (!node_.name.empty()) notes.push_back({"opbench_task", node_.name});
  if (!node_.cause.empty()) notes.push_back({"opbench_cause", node_.cause});
  const DeviceType device = is_npu ? DeviceType::npu : DeviceType::cpu;
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
                        workspace_.at(runnable_, node_.inputs[i]));
  }
  write_attributes(writer_, node_.problem.attrs);
}

void NodeDump::write_outputs() {
  for (std::size_t i = 0; i < node_.outputs.size(); ++i) {
    const std::string name =
        loaded_ == nullptr ? op().output_path(node_.problem, i) : loaded_->outputs[i];
    if (name.empty()) continue;
    writer_.write_output(name, node_.problem.outputs[i],
                         workspace_.at(runnable_, node_.outputs[i]));
  }
}

}  // namespace opbench
