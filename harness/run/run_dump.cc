#include "harness/run/run_dump.h"

#include <variant>

#include "harness/plan/selection.h"

namespace opbench {
namespace {

void write_attribute(DumpWriter& writer, const std::string& name, const AttrValue& value) {
  // Words and lists have no place among the dumper's scalars; they are in the record's note.
  if (const auto* number = std::get_if<double>(&value)) writer.write_input_scalar(name, *number);
  if (const auto* whole = std::get_if<std::int64_t>(&value))
    writer.write_input_scalar(name, *whole);
  if (const auto* flag = std::get_if<bool>(&value)) writer.write_input_scalar(name, *flag);
}

}  // namespace

void dump_graph(DumpWriter& writer, const PlannedCase& planned, const Selection& selection,
                const Workspace& workspace) {
  const std::string id = case_id(planned.spec);
  for (std::size_t n = 0; n < planned.graph.nodes.size(); ++n) {
    const Node& node = planned.graph.nodes[n];
    const Op& op = *node.problem.op;
    const Kernel& kernel = *selection.kernels[n];
    const DeviceType device = kernel.provider == Provider::npu ? DeviceType::npu : DeviceType::cpu;
    writer.begin_record(op.ir_name, device,
                        {{"opbench_case", id},
                         {"opbench_variant", selection.variant},
                         {"opbench_kernel", std::string(kernel.name)}});
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      writer.write_input(op.input_path(i), node.problem.inputs[i], workspace.data(node.inputs[i]));
    }
    for (const auto& [name, value] : node.problem.attrs.values())
      write_attribute(writer, name, value);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      writer.write_output(op.output_path(node.problem, i), node.problem.outputs[i],
                          workspace.data(node.outputs[i]));
    }
  }
}

}  // namespace opbench
