#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <ostream>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/named_files.h"
#include "cli/run_printing.h"
#include "harness/run/artefact.h"
#include "harness/run/join_results.h"
#include "harness/run/merge_parts.h"
#include "harness/run/run_folder.h"
#include "tensor/error.h"
#include "tensor/utf8.h"
#include "text/program.h"

namespace opbench {
namespace {

constexpr const char* kMergeFooter = R"(Examples:
  opbench merge out/parts/*.jsonl -o results.json
  opbench merge node*/parts/*.jsonl -o results.json      parts of folders that are not shared
  opbench merge out/parts/*.jsonl -o results.json --artefact run.h5
  opbench report results.json -o results.md
Parts must be of one plan. If a unit is missing, the exit code is 3, and results are written only with
--allow-missing. Else the exit code is that of the whole run. Results of different machines stay separate.)";

struct MergeFlags {
  std::vector<std::string> files;
  std::string output, artefact;
  bool allow_missing = false;
};

// "unit 17, relu[64,fp32]" if the plan names the unit.
std::string unit_text(std::size_t unit, const std::vector<std::string>& ids) {
  return unit < ids.size() ? fmt::format("unit {}, {}", unit, printable(ids[unit]))
                           : fmt::format("unit {}", unit);
}

void list_missing(const units::CollectedUnits& collected, const MergeFlags& flags,
                  std::ostream& err) {
  const std::vector<std::size_t> missing = collected.missing();
  err << fmt::format("{}: {} of {} units are missing:\n", program_name(), missing.size(),
                     collected.units());
  const std::vector<std::string> ids = units::read_unit_ids(flags.files.front(), collected.plan());
  constexpr std::size_t kMostLines = 20;
  const std::size_t shown = missing.size() <= kMostLines ? missing.size() : kMostLines - 1;
  for (std::size_t i = 0; i < shown; ++i) err << "  " << unit_text(missing[i], ids) << '\n';
  if (shown < missing.size()) err << fmt::format("  and {} more\n", missing.size() - shown);
  err << fmt::format(
      "{}: repeat the command of each part with --resume DIR in place of --out, then "
      "merge again\n",
      program_name());
}

int merge(const MergeFlags& flags, CommandContext& context) {
  std::vector<NamedFile> inputs;
  for (const std::string& file : flags.files) inputs.push_back({"a part", file});
  check_files(inputs, std::vector<NamedFile>{{"-o", flags.output}, {"--artefact", flags.artefact}},
              context);
  refuse_standard_output("--artefact", flags.artefact, "HDF5", "a file");
  units::CollectedUnits collected;
  for (const std::string& file : flags.files) collected.add_file(file);
  if (collected.is_empty() || collected.units() == 0) {
    context.err << fmt::format("{}: nothing to merge: the parts hold no units\n", program_name());
    return kNothingToJudge;
  }
  const bool is_complete = collected.missing().empty();
  if (!is_complete) list_missing(collected, flags, context.err);
  if (!is_complete && (!flags.allow_missing || collected.size() == 0)) return kCouldNotFinish;
  ResultsFile results = collected.results();
  results.run.was_interrupted = !is_complete;
  ResultFile(flags.output, context).write([&](std::ostream& out) { write_json(out, results); });
  if (!flags.artefact.empty()) {
    DumpWriter artefact(flags.artefact, true);
    attach_results(artefact, results);
    artefact.finish();
  }
  if (!context.quiet) {
    print_end(results.run, {}, context);
    for (const ResultsFile& other : results.others) print_end(other.run, {}, context);
  }
  return is_complete ? exit_code_of(results) : kCouldNotFinish;
}

}  // namespace

void add_merge_command(CommandLine& line, CommandContext& context) {
  Command command = line.add_command("merge", "Join the parts of a run on several machines");
  const auto flags = std::make_shared<MergeFlags>();
  command.option("FILE", flags->files, "parts/*.jsonl of `opbench run --part` or of several ranks",
                 {.value = "FILE", .is_required = true});
  command.option("-o,--out", flags->output, "Output file, in the form of `opbench run --json`",
                 {.value = "FILE", .is_required = true});
  command.option("--artefact", flags->artefact,
                 "Also an HDF5 file with every sample's time, in the form of "
                 "`opbench run --artefact`",
                 {.value = "FILE"});
  command.flag("--allow-missing", flags->allow_missing,
               "Write incomplete results if units are missing; the exit code is still 3");
  add_overwrite_flag(command, context);
  add_common_flags(command, context);
  command.footer(kMergeFooter);
  command.action([&context, flags] { return merge(*flags, context); });
}

}  // namespace opbench
