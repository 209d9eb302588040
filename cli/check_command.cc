#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <vector>

#include "cli/check_flags.h"
#include "cli/check_stored.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/named_files.h"
#include "cli/run_outputs.h"
#include "harness/check/report.h"
#include "harness/report/text.h"
#include "harness/run/interrupt.h"
#include "tensor/error.h"
#include "tensor/isa.h"
#include "text/output_file.h"

namespace opbench {
namespace {

constexpr const char* kFooter = R"(Examples:
  opbench check --against ../base/build/release/opbench --op softplus --shapes cases/resnet.yaml --set N=1
  opbench check --against old/opbench --cases cases/shufflenet_v2.yaml --threads 1 --fail-over 1
  opbench check --against old/opbench --cases cases/shufflenet_v2_unit.yaml --set N=1     contexts, step by step
  tools/check-against-base origin/main --cases cases/resnet.yaml     builds the other revision first
  opbench check --baseline results.json --cases cases/resnet.yaml    stored results: a watch, no gate

Exit codes: 0 no regression, 1 a regression, 2 bad input, 3 could not finish, 4 nothing to judge, 5 too noisy.)";

/// The files of a check, all reserved before anything runs.
class CheckOutputs {
 public:
  CheckOutputs(CheckFlags flags, CommandContext& context) : context_(context) {
    if (!flags.out_dir.empty()) {
      make_directory(flags.out_dir);
      const std::filesystem::path dir = flags.out_dir;
      if (flags.json.empty()) flags.json = dir / "check.json";
      if (flags.junit.empty()) flags.junit = dir / "junit.xml";
      if (flags.markdown.empty()) flags.markdown = dir / "check.md";
    }
    refuse_to_replace(flags);
    reserve(json_, flags.json);
    reserve(junit_, flags.junit);
    reserve(markdown_, flags.markdown);
  }

  /// True if all could be written; one that cannot does not keep the others from being written.
  bool write(const check::Report& report) {
    const auto json = [&](std::ostream& out) {
      check::write_json(out, report, describe_machine());
    };
    const auto junit = [&](std::ostream& out) { check::write_junit(out, report); };
    const auto markdown = [&](std::ostream& out) { check::write_markdown(out, report); };
    bool is_well = attempt(json_, json);
    is_well &= attempt(junit_, junit);
    return attempt(markdown_, markdown) && is_well;
  }

 private:
  // A baseline that is brought up to date is a result, too.
  void refuse_to_replace(const CheckFlags& flags) {
    std::vector<NamedFile> read = input_files(flags.run.selection);
    read.insert(read.end(), {{"--against", flags.against}, {"--current", flags.current}});
    std::vector<NamedFile> written = {
        {"--json", flags.json}, {"--junit", flags.junit}, {"--markdown", flags.markdown}};
    std::vector<NamedFile>& of_baseline = flags.update ? written : read;
    of_baseline.push_back({"--baseline", flags.baseline});
    of_baseline.push_back({"the baseline's anchor", StoredCheck(flags, context_).anchor_path()});
    require_distinct(read, written);
  }

  static void reserve(std::optional<OutputFile>& file, const std::string& path) {
    if (!path.empty()) file.emplace(path);
  }

  bool attempt(std::optional<OutputFile>& file, const std::function<void(std::ostream&)>& content) {
    if (!file) return true;
    try {
      file->write(content);
      return true;
    } catch (const std::exception& error) {
      context_.err << "opbench: " << printable(error.what()) << '\n';
      return false;
    }
  }

  CommandContext& context_;
  std::optional<OutputFile> json_, junit_, markdown_;
};

check::GateHooks make_hooks(CommandContext& context) {
  check::GateHooks hooks;
  if (context.quiet) return hooks;
  hooks.progress = [&context](const std::string& phase, std::size_t done, std::size_t total,
                              const std::string& what) {
    const std::string text = fmt::format("[{} {}/{}] {}", phase, done + 1, total,
                                         printable(report::with_short_lists(what)));
    if (context.is_progress_overwritten()) {
      context.err << "\r\033[K" << text.substr(0, context.progress_width()) << std::flush;
    } else {
      context.err << text << '\n';
    }
  };
  return hooks;
}

bool is_github() {
  const char* variable = std::getenv("GITHUB_ACTIONS");
  return variable != nullptr && std::string_view(variable) == "true";
}

int finish(check::Report& report, CheckOutputs& outputs, CommandContext& context) {
  report.command = context.command_line;
  if (!context.quiet && context.is_progress_overwritten()) context.err << "\r\033[K" << std::flush;
  check::print(context.out, report, {context.colour()}, context.verbose);
  if (is_github()) check::print_annotations(context.out, report);
  return outputs.write(report) ? report.exit_code() : kCouldNotFinish;
}

int check_stored(const CheckFlags& flags, CheckOutputs& outputs, CommandContext& context) {
  StoredCheck stored(flags, context);
  if (!stored.has_baseline()) {
    context.err << fmt::format("opbench: there is no baseline '{}'; --update makes it\n",
                               printable(flags.baseline));
    return kNothingToJudge;
  }
  check::Report report = stored.compare();
  const int code = finish(report, outputs, context);
  if (flags.update) stored.update();
  return code;
}

int run_check(const CheckFlags& flags, CommandContext& context) {
  if (flags.against.empty() == flags.baseline.empty()) {
    throw Error(
        "check needs either --against PROGRAM, an opbench to take turns with, or --baseline FILE, "
        "stored results");
  }
  if (!flags.run.isa.empty()) select_isa(flags.run.isa);  // is it one?
  const check::GateOptions options = gate_options_of(flags);
  watch_interrupts();  // before there is a file that could be left behind
  CheckOutputs outputs(flags, context);
  if (!flags.baseline.empty()) return check_stored(flags, outputs, context);
  check::Report report = run_gate(options, make_hooks(context));
  return finish(report, outputs, context);
}

}  // namespace

void add_check_command(CommandLine& line, CommandContext& context) {
  Command command = line.add_command("check", "Did this build make an operator slower or wrong?");
  const auto flags = std::make_shared<CheckFlags>();
  add_check_flags(command, *flags);
  add_selection_flags(command, flags->run);
  add_common_flags(command, context);
  command.footer(kFooter);
  command.action([&context, flags] { return run_check(*flags, context); });
}

}  // namespace opbench
