#include <fmt/format.h>

#include "compare/call_texts.h"
#include "compare/witness_elements.h"
#include "judge/judge.h"
#include "tensor/utf8.h"
#include "text/program.h"

namespace opbench {
namespace {

std::string row(std::string_view what, std::string_view value) {
  return fmt::format("| {} | {} |\n", what, value);
}

// Names of files and operators may hold anything.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char letter : printable(text)) {
    if (letter == '|' || letter == '`' || letter == '<') escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

std::string tensor_rows(const WitnessOrigin& origin, const Witness& witness) {
  std::string rows;
  const auto add = [&](const std::string& name, const TensorDesc& before, const TensorDesc& now) {
    rows += fmt::format("| {} | {} | {} | {} |\n", name, opbench::name(now.dtype),
                        shape_text(before.shape), shape_text(now.shape));
  };
  for (std::size_t i = 0; i < witness.call->inputs.size(); ++i) {
    const DumpEntry* entry = witness.call->inputs[i];
    add(fmt::format("input {}", cell(entry->name)), TensorDesc{entry->desc},
        witness.problem().inputs[i]);
  }
  const DumpEntry* entry = witness.call->outputs[witness.output];
  add(fmt::format("output {}", cell(entry->name)), origin.output, witness.recorded().desc);
  return rows;
}

std::string findings(const WitnessOrigin& origin, const Witness& witness) {
  const OutputFinding& whole = origin.finding;
  std::string text = row("reason", cell(whole.reason));
  text += row("wrong elements", fmt::format("{} of {}{}", whole.wrong_elements, whole.elements,
                                            whole.pattern.empty() ? "" : ": " + whole.pattern));
  if (whole.worst_element >= 0) {
    text +=
        row("worst place",
            fmt::format("{}: {}, expected {}", index_text(origin.output.shape, whole.worst_element),
                        value_text(whole.worst_actual), value_text(whole.worst_expected)));
  }
  if (!origin.record.implementation.empty()) {
    text += row("implementation", cell(origin.record.implementation));
  }
  text += row("reason, cut down", cell(witness.finding.reason));
  return text + row("bound", cell(bound_text(witness)));
}

}  // namespace

std::string readme(const WitnessOrigin& origin, const Witness& witness) {
  std::string text = fmt::format("# {}\n\n", cell(headline(origin, witness)));
  text +=
      "The smallest part that was found of a recorded call whose output no right kernel leaves "
      "for its\ninputs. The recorded numbers are those of the dump; nothing was run again.\n\n";
  text += "| | |\n|---|---|\n";
  text += row("file", cell(origin.file));
  text += row("operator", cell(origin.record.op));
  text += row("sequence number", cell(origin.record.seq));
  text += row("computed by", fmt::format("{} of {}", witness.problem().op->name, program_name()));
  text += row("device", origin.record.device);
  text += findings(origin, witness);
  text += row("elements", fmt::format("{}, of {}", witness.elements(), origin.elements));
  text += "\n| tensor | dtype | recorded | here |\n|---|---|---|---|\n";
  text += tensor_rows(origin, witness);
  text += fmt::format(
      "\n```sh\n{0} judge call.h5                 # GUILTY, as above\n"
      "python3 call.py                       # the same call by torch; --device npu, --device "
      "cuda\n"
      "python3 call.py --recorded            # the recorded output: FAIL\n"
      "g++ -std=c++17 call_test.cc -lgtest -lgtest_main -pthread -o call_test && "
      "./call_test\n```\n",
      program_name());
  return text;
}

}  // namespace opbench
