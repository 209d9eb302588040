#include <fmt/format.h>

#include <sstream>

#include "compare/call_texts.h"
#include "compare/witness_elements.h"
#include "judge/judge.h"
#include "text/cell.h"
#include "text/program.h"
#include "text/table.h"

namespace opbench {
namespace {

TextTable tensors_table(const WitnessOrigin& origin, const Witness& witness) {
  TextTable table{columns_of("tensor|dtype|recorded|here")};
  const auto add = [&](const std::string& name, const TensorDesc& before, const TensorDesc& now) {
    table.rows.push_back({name, std::string(opbench::name(now.dtype)), shape_text(before.shape),
                          shape_text(now.shape)});
  };
  for (std::size_t i = 0; i < witness.call->inputs.size(); ++i) {
    const DumpEntry* entry = witness.call->inputs[i];
    add("input " + entry->name, TensorDesc{entry->desc}, witness.problem().inputs[i]);
  }
  const DumpEntry* entry = witness.call->outputs[witness.output];
  add("output " + entry->name, origin.output, witness.recorded().desc);
  return table;
}

TextTable facts_table(const WitnessOrigin& origin, const Witness& witness) {
  const OutputFinding& whole = origin.finding;
  TextTable table{
      columns_of("|"),
      {{"file", origin.file},
       {"operator", origin.record.op},
       {"sequence number", origin.record.seq},
       {"computed by", fmt::format("{} of {}", witness.problem().op->name, program_name())},
       {"device", origin.record.device},
       {"reason", whole.reason},
       {"wrong elements", fmt::format("{} of {}{}", whole.wrong_elements, whole.elements,
                                      whole.pattern.empty() ? "" : ": " + whole.pattern)}}};
  if (whole.worst_element >= 0) {
    table.rows.push_back(
        {"worst place",
         fmt::format("{}: {}, expected {}", index_text(origin.output.shape, whole.worst_element),
                     value_text(whole.worst_actual), value_text(whole.worst_expected))});
  }
  if (!origin.record.implementation.empty()) {
    table.rows.push_back({"implementation", origin.record.implementation});
  }
  table.rows.push_back({"reason, cut down", witness.finding.reason});
  table.rows.push_back({"bound", bound_text(witness)});
  table.rows.push_back({"elements", fmt::format("{}, of {}", witness.elements(), origin.elements)});
  return table;
}

}  // namespace

std::string readme(const WitnessOrigin& origin, const Witness& witness) {
  std::ostringstream out;
  out << "# " << markdown_escaped(headline(origin, witness)) << "\n\n"
      << "The smallest part that was found of a recorded call whose output no right kernel leaves "
         "for its\ninputs. The recorded numbers are those of the dump; nothing was run again.\n\n";
  write_markdown(out, facts_table(origin, witness));
  out << '\n';
  write_markdown(out, tensors_table(origin, witness));
  out << fmt::format(
      "\n```sh\n{0} judge call.h5                 # GUILTY, as above\n"
      "python3 call.py                       # the same call by torch; --device npu, --device "
      "cuda\n"
      "python3 call.py --recorded            # the recorded output: FAIL\n"
      "g++ -std=c++17 call_test.cc -lgtest -lgtest_main -pthread -o call_test && "
      "./call_test\n```\n",
      program_name());
  return out.str();
}

}  // namespace opbench
