#include <fmt/format.h>

#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/named_files.h"
#include "cli/run_flags.h"
#include "cli/run_outputs.h"
#include "harness/plan/case_plan.h"
#include "harness/plan/case_script.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr const char* kScriptFooter =
    R"(The script needs PyTorch and NumPy only. It prints the median and the least time of its calls, by the device's events;
--check compares with fp64 on the CPU, --profile writes a Chrome trace. python3 FILE --help has all its flags.

Examples:
  opbench script 'softplus[128x64x128x128,fp16,NC1HWC0]' --backward -o softplus.py
  opbench script --cases cases/shufflenet_v2.yaml --filter 'stage2.0.concat$' --dtype fp16 --format NCHW
  opbench script --op softplus --shapes cases/resnet.yaml --set N=8 --filter 8x64x56x56.*fp32,NCHW

Exit code 2: PyTorch has no simple call for the operator; 4: no case is selected.)";

constexpr std::string_view kScriptFields[] = {"--op",    "--shapes", "--cases", "--filter",
                                              "--dtype", "--format", "--set",   "--backward"};

struct ScriptFlags {
  std::string id;
  SelectionText selection = absent_selection();
  std::string out = "-";
};

int say_several(const std::vector<PlannedCase>& plan, CommandContext& context) {
  context.complain(
      plan.empty() ? "no single operator is selected; name a case by its id, or one of a file with "
                     "--cases and --filter"
                   : fmt::format("{} cases are selected, and a script times one; name one of them, "
                                 "such as '{}'",
                                 plan.size(), case_id(plan.front().spec)));
  return plan.empty() ? kNothingToJudge : kBadInput;
}

int script(const ScriptFlags& flags, CommandContext& context) {
  CaseSelection selection = read_selection(flags.selection);
  if (!flags.id.empty()) selection.case_ids = {flags.id};
  const std::vector<NamedFile> outputs = {{"-o", flags.out}};
  check_files(input_files(flags.selection), outputs, context);
  const std::vector<PlannedCase> plan = make_case_plan(selection);
  if (plan.size() != 1) return say_several(plan, context);
  const std::string text = case_script(plan.front().spec, context.command_line);
  ResultFile(flags.out, context).write([&](std::ostream& out) { out << text; });
  return kAllWell;
}

}  // namespace

void add_script_command(CommandLine& line, CommandContext& context) {
  Command command =
      line.add_command("script", "Write a PyTorch script that times a case without opbench");
  const auto flags = std::make_shared<ScriptFlags>();
  command.option("CASE", flags->id, "A case by its id, as reports print it", {"CASE"});
  add_selection_fields(command, flags->selection, kScriptFields);
  command.option("-o,--out", flags->out, "Where the script goes; - is standard output",
                 {.value = "FILE", .shows_default = true});
  add_overwrite_flag(command, context);
  add_common_flags(command, context);
  command.footer(kScriptFooter);
  command.action([&context, flags] { return script(*flags, context); });
}

}  // namespace opbench
