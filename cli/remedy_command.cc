#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/named_files.h"
#include "cli/progress.h"
#include "harness/plan/case_places.h"
#include "harness/plan/case_selection.h"
#include "harness/plan/remedy_report.h"
#include "harness/plan/steps_file.h"
#include "profiles/transfer_price.h"
#include "tensor/error.h"
#include "tensor/utf8.h"
#include "text/input_file.h"
#include "text/program.h"
#include "workers/interrupt.h"

namespace opbench {
namespace {

constexpr const char* kRemedyFooter =
    R"(Only plans; runs nothing. Searches for the framework rules and variants with the fewest TransData, then the fewest Cast,
then copies, then bytes. Rules that change results (precision, allow_fp32_to_fp16) are not changed.
--out writes the steps to this result. `opbench --cases` runs and verifies them.

Examples:
  opbench remedy --cases cases/shufflenet_v2_forward.yaml
  opbench remedy --cases cases/shufflenet_v2_unit.yaml --context stride1 --out steps.yaml
  opbench --cases steps.yaml                                   runs these steps: times, and the same results
  opbench remedy --cases cases/shufflenet_v2_training.yaml --step 11.O2 --json remedy.json
  opbench remedy --cases near.yaml --profile kernel_details.csv  prices the steps by this profile

Exit code 2: a file, a context or a step does not exist; 4: the files have no contexts.)";

struct RemedyFlags {
  std::vector<std::string> files, contexts, symbols, dtypes, profiles;
  std::string step, json, out;
  std::int64_t most_tasks = 100;
};

CaseSelection selection_of(const RemedyFlags& flags) {
  SelectionText text = absent_selection();
  const auto fields = selection_fields();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].flag == std::string_view("--cases")) text[i] = flags.files;
    if (fields[i].flag == std::string_view("--dtype")) text[i] = flags.dtypes;
    if (fields[i].flag == std::string_view("--set")) text[i] = flags.symbols;
  }
  return read_selection(text);
}

bool is_wanted(const RemedyFlags& flags, const Context& context) {
  return flags.contexts.empty() || std::find(flags.contexts.begin(), flags.contexts.end(),
                                             context.name) != flags.contexts.end();
}

void require_contexts(const RemedyFlags& flags, const std::vector<const CaseFile*>& files) {
  std::vector<std::string> names;
  for (const CaseFile* file : files) {
    for (const Context& context : file->contexts) names.push_back(context.name);
  }
  for (const std::string& wanted : flags.contexts) {
    if (std::find(names.begin(), names.end(), wanted) != names.end()) continue;
    throw Error(fmt::format("--context: there is no context '{}'{}", wanted,
                            names.empty() ? "; the files have none" : suggestion(wanted, names)));
  }
}

// The step that --step names, else the first that can run.
const ContextStep& step_of(const RemedyFlags& flags, const Context& context) {
  std::vector<std::string> names;
  for (const ContextStep& step : context.steps) {
    if (flags.step.empty() ? step.not_applicable.empty() : step.name == flags.step) return step;
    names.push_back(step.name);
  }
  throw Error(fmt::format("--step: {} has no step '{}'{}", context.name, flags.step,
                          suggestion(flags.step, names)));
}

ContextRemedy remedy_for(const RemedyFlags& flags, const CaseSelection& selection,
                         const Context& context) {
  PlannedContext planned;
  planned.spec = context;
  planned.dtype = selection.dtypes.empty() ? context.dtypes.front() : selection.dtypes.front();
  RemedyLimits limits;
  limits.most_tasks = flags.most_tasks * 1'000'000;
  ContextRemedy found{context.name, planned.dtype, {}};
  found.remedy = find_remedy(context, step_of(flags, context), planned.dtype, limits);
  found.remedy.context = planned.id();
  return found;
}

void check_flags(const RemedyFlags& flags, const CaseSelection& selection,
                 const CommandContext& context) {
  if (flags.files.empty()) throw Error("remedy takes --cases FILE: a case file with contexts");
  if (selection.dtypes.size() > 1) throw Error("--dtype: remedy plans in one dtype");
  if (flags.most_tasks < 1 || flags.most_tasks > 1'000'000) {
    throw Error(fmt::format("--limit is {}; it must be from 1 to 1000000", flags.most_tasks));
  }
  std::vector<NamedFile> inputs;
  for (const std::string& file : flags.files) inputs.push_back({"--cases", find_case_file(file)});
  for (const std::string& file : flags.profiles) inputs.push_back({"--profile", file});
  check_files(inputs, std::vector<NamedFile>{{"--json", flags.json}, {"--out", flags.out}},
              context);
}

// Reads the profiles and prints the prices of conversions; none without --profile.
std::optional<TransferPrices> prices_of(const RemedyFlags& flags, CommandContext& context) {
  if (flags.profiles.empty()) return std::nullopt;
  constexpr std::size_t kSamples = 64;
  const IngestResult result = ingest_files(
      flags.profiles, [](const std::string&) {}, [] { return interrupted(); },
      HotSpotRules::builtin(), kSamples);
  for (const IngestedFile& file : result.files) {
    if (file.kind.empty() || !file.is_whole) throw Error("--profile: " + file.problems.at(0));
  }
  const TransferPrices prices = transfer_prices(result);
  const std::size_t width = context.width();
  say(context.out, "Prices for estimates, from the profile:", 0, 2, width);
  for (const std::string& line : price_lines(prices)) say(context.out, line, 2, 4, width);
  if (prices.step_us) {
    say(context.out, fmt::format("The {} takes {:.1f} us", prices.whole_name, *prices.step_us), 2,
        4, width);
  } else {
    say(context.out, "The duration of a step is not known: estimates are in us only", 2, 4, width);
  }
  return prices;
}

/// The output files, reserved before the search.
struct RemedyFiles {
  std::optional<ResultFile> json, steps;

  RemedyFiles(const RemedyFlags& flags, CommandContext& context) {
    if (!flags.json.empty()) json.emplace(flags.json, context);
    if (!flags.out.empty()) steps.emplace(flags.out, context);
  }

  void write(const std::vector<ContextRemedy>& remedies, const std::string& case_file,
             const Symbols& symbols, const std::string& command_line) {
    if (json) {
      std::vector<Remedy> plain;
      for (const ContextRemedy& one : remedies) plain.push_back(one.remedy);
      json->write([&](std::ostream& out) { write_remedies_json(out, plain, command_line); });
    }
    if (!steps) return;
    const std::string text =
        steps_file_text(read_input_file(case_file, "the case file"), case_file, symbols, remedies);
    steps->write([&](std::ostream& out) {
      out << "# Written by: " << printable(command_line) << '\n' << text;
    });
  }
};

int remedy(const RemedyFlags& flags, CommandContext& context) {
  const CaseSelection selection = selection_of(flags);
  check_flags(flags, selection, context);
  CaseFiles files(selection.symbols);
  const std::vector<const CaseFile*> found = files_named(selection.case_files, files);
  require_contexts(flags, found);
  if (!flags.out.empty() && found.size() != 1) {
    throw Error(
        fmt::format("--out writes the contexts of one case file; --cases names {}", found.size()));
  }
  RemedyFiles results(flags, context);
  const std::optional<TransferPrices> prices = prices_of(flags, context);
  ProgressLine progress(context);
  std::vector<ContextRemedy> remedies;
  for (const CaseFile* file : found) {
    for (const Context& one : file->contexts) {
      if (!is_wanted(flags, one)) continue;
      progress.begin("searching " + one.name);
      remedies.push_back(remedy_for(flags, selection, one));
      progress.clear();
      if (prices) estimate_savings(*prices, remedies.back().remedy);
      print_remedy(context.out, remedies.back().remedy, {context.colour(), context.width()});
    }
  }
  if (remedies.empty()) {
    context.err << program_name()
                << ": the case files have no contexts; a case of one operator has no "
                   "conversions to plan\n";
    return kNothingToJudge;
  }
  results.write(remedies, found.front()->path, selection.symbols, context.command_line);
  return kAllWell;
}

}  // namespace

void add_remedy_command(CommandLine& line, CommandContext& context) {
  Command command =
      line.add_command("remedy", "Find the rules and variants with the fewest conversions");
  const auto flags = std::make_shared<RemedyFlags>();
  command.option("--cases", flags->files, "Case files with contexts", {.value = "FILE"});
  command.option("--context", flags->contexts, "Only the contexts with these names",
                 {.value = "NAME", .values = ValueSplit::by_commas});
  command.option("--step", flags->step, "First step of the search [the first that can run]",
                 {.value = "NAME"});
  command.option("--set", flags->symbols, "NAME=VALUE for a symbol of the case file, such as N=128",
                 {.value = "NAME=VALUE", .values = ValueSplit::one_each});
  command.option("--dtype", flags->dtypes, "Dtype of the plan [the context's first]",
                 {.value = "DTYPE", .values = ValueSplit::by_commas});
  command.option(
      "--limit", flags->most_tasks,
      "Stop after so many million planned tasks; the result is then not proved to be the best",
      {.value = "N", .shows_default = true});
  command.option("--profile", flags->profiles,
                 "Profiles of the network, as ingest reads them: estimate what each step saves of "
                 "its time on the device",
                 {.value = "FILE"});
  command.option("--json", flags->json, "All results; - is standard output", {.value = "FILE"});
  command.option("--out", flags->out,
                 "Case file with the steps to the result; - is standard output", {.value = "FILE"});
  add_overwrite_flag(command, context);
  add_common_flags(command, context);
  command.footer(kRemedyFooter);
  command.action([&context, flags] { return remedy(*flags, context); });
}

}  // namespace opbench
