#include <fmt/format.h>

#include <memory>
#include <ostream>
#include <string>

#include "cli/cli.h"
#include "cli/command.h"
#include "harness/report/explain_file.h"
#include "text/program.h"

namespace opbench {
namespace {

constexpr const char* kExplainFooter =
    R"(Prints all that a result file contains about one case: the call, the machine and, for each variant, the numbers
of the table of `opbench run`, the tolerance and the command that repeats it. For a comparison or a judgement it prints
what is wrong with an operator, where its error comes from and what it looks like.

Examples:
  opbench explain run.h5                               the cases; all about it if there is one
  opbench explain run.h5 'softplus[8x64x56x56,fp32'    a case by its id, its name or a part of them
  opbench explain results.json layer1.0.relu
  opbench explain compare.h5 softplus/2                an operator of a comparison
  opbench explain judge.json                           all GUILTY operators of opbench judge --json

FILE is written by `opbench run --artefact` or --json, `opbench compare -o` or `opbench judge --json`. Exit code 4: no such case.)";

struct ExplainFlags {
  std::string file, wanted;
};

int explain(const ExplainFlags& flags, CommandContext& context) {
  const report::Explained explained = report::explain_file(context.out, flags.file, flags.wanted,
                                                           {context.colour(), context.width()});
  if (explained.told > 0) return kAllWell;
  if (explained.listed > 0) {
    context.out << fmt::format(
        "{} cases; one of them: {}\n", explained.listed,
        shell_line({std::string(program_name()), "explain", flags.file, explained.first}));
    return kAllWell;
  }
  if (explained.is_of_operators && flags.wanted.empty()) {
    context.out << "No operator is wrong.\n";
    return kAllWell;
  }
  const std::string what =
      flags.wanted.empty()
          ? "no results"
          : fmt::format("no {} '{}'", explained.is_of_operators ? "operator" : "case",
                        flags.wanted);
  context.complain(fmt::format("{} has {}", flags.file, what));
  return kNothingToJudge;
}

}  // namespace

void add_explain_command(CommandLine& line, CommandContext& context) {
  Command command =
      line.add_command("explain", "Print all results of one case, or the errors of one operator");
  const auto flags = std::make_shared<ExplainFlags>();
  command.option("FILE", flags->file, "Results of a run, a comparison or a judgement, HDF5 or JSON",
                 {.value = "FILE", .is_required = true});
  command.option("CASE", flags->wanted,
                 "A case by its id, its name or a part of them; else an operator, or "
                 "operator/number",
                 {.value = "CASE"});
  add_common_flags(command, context);
  command.footer(kExplainFooter);
  command.action([&context, flags] { return explain(*flags, context); });
}

}  // namespace opbench
