#include "cli/check_command.h"

#include <fmt/format.h>

#include <cstdlib>
#include <deque>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <ostream>
#include <vector>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/named_files.h"
#include "cli/progress.h"
#include "cli/run_outputs.h"
#include "harness/check/history.h"
#include "harness/check/report.h"
#include "harness/check/waivers.h"
#include "harness/check/worker.h"
#include "kernels/simd/streaming.h"
#include "tensor/error.h"
#include "tensor/parallel.h"
#include "tensor/processor.h"
#include "text/output_file.h"
#include "workers/interrupt.h"

namespace opbench {
namespace {

constexpr const char* kCheckFooter = R"(Examples:
  opbench check --against ../base/build/release/opbench --op softplus --shapes cases/resnet.yaml --set N=1
  opbench check --against old/opbench --cases cases/shufflenet_v2.yaml --threads 1 --fail-over 1
  opbench check --against-kernels old.so --kernels new.so --op softplus --shapes cases/resnet.yaml
  opbench check --against old/opbench --cases cases/shufflenet_v2_unit.yaml --set N=1     contexts, step by step
  tools/check-against-base origin/main --cases cases/resnet.yaml     builds the other revision first
  opbench check --baseline results.json --cases cases/resnet.yaml    stored results: a watch, not a gate

Exit codes: 0 no regression; 1 a regression; 2 bad input; 3 could not finish, or something looks slower and is not
decided; 4 nothing to judge; 5 nothing looks slower, but noise may hide a slowdown. From 2 on, standard error has
the first cause in one line.)";

using Render = void (*)(std::ostream& out, const check::CheckReport& report);

/// A form of the verdicts: the flag that names its file, and its name in the directory of --out.
struct CheckFile {
  const char* flag;
  std::string CheckFlags::*path;
  const char* in_directory;
  Render render;
};

constexpr CheckFile kCheckFiles[] = {
    {"--json", &CheckFlags::json, "check.json",
     [](std::ostream& out, const check::CheckReport& report) {
       check::write_json(out, report, describe_machine());
     }},
    {"--junit", &CheckFlags::junit, "junit.xml", check::write_junit},
    {"--markdown", &CheckFlags::markdown, "check.md", check::write_markdown},
};

/// The files of a check, all reserved before anything runs.
class CheckOutputs {
 public:
  CheckOutputs(const CheckFlags& flags, CommandContext& context) : context_(context) {
    refuse_standard_output("--out", flags.out_dir, "several files", "a folder");
    refuse_standard_output("--history", flags.history, "what later checks read", "a file");
    if (!flags.out_dir.empty()) make_directory(flags.out_dir);
    std::vector<NamedFile> written;
    for (const CheckFile& file : kCheckFiles) {
      written.push_back({file.flag, flags.*file.path});
      written.push_back({"--out", place_in_directory(file, flags)});
    }
    refuse_to_replace(flags, written);
    require_replaceable(written, context);
    for (std::size_t i = 0; i < written.size(); ++i) {
      if (written[i].path.empty()) continue;
      files_.emplace_back(written[i].path, context_);
      renders_.push_back(kCheckFiles[i / 2].render);
    }
    if (!flags.history.empty()) history_.emplace(flags.history);
  }

  /// True if all files are written. A file that fails does not stop the others.
  bool write(const check::CheckReport& report) {
    bool is_well = true;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      is_well &=
          attempt([&] { files_[i].write([&](std::ostream& out) { renders_[i](out, report); }); });
    }
    if (history_ && !report.was_interrupted) {
      is_well &= attempt([&] { history_->append(history_line(report, describe_machine())); });
    }
    return is_well;
  }

 private:
  static std::string place_in_directory(const CheckFile& file, const CheckFlags& flags) {
    if (flags.out_dir.empty()) return {};
    const std::string place = std::filesystem::path(flags.out_dir) / file.in_directory;
    const std::string& named = flags.*file.path;
    return !named.empty() && is_same_file(named, place) ? std::string() : place;
  }

  // An updated baseline is a result, too.
  void refuse_to_replace(const CheckFlags& flags, std::vector<NamedFile> written) const {
    std::vector<NamedFile> read = input_files(flags.run.selection);
    written.push_back({"--history", flags.history});
    read.insert(
        read.end(),
        {{"--against", flags.against}, {"--current", flags.current}, {"--waivers", flags.waivers}});
    std::vector<NamedFile>& of_baseline = flags.update ? written : read;
    of_baseline.push_back({"--baseline", flags.baseline});
    of_baseline.push_back({"the baseline's anchor", StoredCheck(flags, context_).anchor_path()});
    require_distinct(read, written);
  }

  bool attempt(const std::function<void()>& writing) const {
    try {
      writing();
      return true;
    } catch (const std::exception& error) {
      context_.complain(error.what());
      return false;
    }
  }

  CommandContext& context_;
  std::deque<ResultFile> files_;  // a ResultFile does not move or copy
  std::vector<Render> renders_;   // one for each file
  std::optional<check::HistoryFile> history_;
};

bool is_github() {
  const char* variable = std::getenv("GITHUB_ACTIONS");
  return variable != nullptr && std::string_view(variable) == "true";
}

/// Prints and writes the verdicts of either comparison.
struct Finish {
  CheckOutputs& outputs;
  const std::vector<check::Waiver>& waivers;
  std::string today;
};

int finish(check::CheckReport& report, const Finish& how, CommandContext& context) {
  report.command = context.command_line;
  check::apply_waivers(report, how.waivers, how.today);
  report.mark_failures();
  ProgressLine(context).clear();
  check::print(context.out, report, {context.colour(), context.width()}, context.verbose);
  if (is_github()) check::print_annotations(context.out, report);
  const std::string reason = check::reason_text(report);
  if (!reason.empty()) context.complain(reason);
  return how.outputs.write(report) ? report.exit_code() : kCouldNotFinish;
}

int check_stored(const CheckFlags& flags, const Finish& how, CommandContext& context) {
  StoredCheck stored(flags, context);
  if (!stored.has_baseline()) {
    context.complain(fmt::format("there is no baseline '{}'; --update makes it", flags.baseline));
    return kNothingToJudge;
  }
  check::CheckReport report = stored.compare();
  const int code = finish(report, how, context);
  if (flags.update) stored.update();
  return code;
}

int run_check(const CheckFlags& flags, CommandContext& context) {
  const bool is_against = !flags.against.empty() || !flags.against_kernels.empty();
  if (is_against != flags.baseline.empty()) {
    throw Error(
        "check needs --against PROGRAM, another build of opbench, --against-kernels FILE, another "
        "build of --kernels, or --baseline FILE, stored results");
  }
  if (!flags.run.isa.empty()) select_isa(flags.run.isa);  // throws for an unknown one
  check::GateOptions options = gate_options_of(flags);
  const std::vector<check::Waiver> waivers =
      flags.waivers.empty() ? std::vector<check::Waiver>() : check::load_waivers(flags.waivers);
  watch_interrupts();  // before there is a file that could be left behind
  CheckOutputs outputs(flags, context);
  const Finish how{outputs, waivers, describe_machine().date.substr(0, 10)};
  if (!flags.baseline.empty()) return check_stored(flags, how, context);
  options.accuracy.waiver_of_errors = [&](const check::CheckedItem& item) {
    return check::waiver_of_errors(item, waivers, how.today);
  };
  // Both builds use this threshold. If each build measured its own, equal code would differ.
  const std::vector<int>& threads = options.run.threads;
  with_threads(threads.empty() ? available_cores() : threads.front(), tell_children_streams_from);
  ProgressLine progress(context);
  check::GateHooks hooks;
  hooks.progress = [&](const std::string& phase, std::size_t done, std::size_t total,
                       const std::string& what) {
    progress.begin(fmt::format("[{} {}/{}]", phase, done + 1, total));
    progress.activity(what);
  };
  check::CheckReport report = run_gate(options, hooks);
  return finish(report, how, context);
}

}  // namespace

void add_check_command(CommandLine& line, CommandContext& context) {
  Command command =
      line.add_command("check", "Compare this build with a baseline: is it slower or wrong?");
  const auto flags = std::make_shared<CheckFlags>();
  add_check_flags(command, *flags);
  add_selection_flags(command, flags->run);
  add_overwrite_flag(command, context);
  add_common_flags(command, context);
  command.common({"--against", "--op", "--shapes", "--cases", "--variant", "--threshold",
                  "--fail-on", "--waivers", "--budget", "--baseline", "--current", "--out"});
  command.footer(kCheckFooter);
  command.action([&context, flags] { return run_check(*flags, context); });
}

void add_worker_command(CommandLine& line, CommandContext& context) {
  Command command =
      line.add_command("worker", "What `opbench check` starts: answers on standard output");
  command.hide();  // not for people: left out of --help
  const auto foreign = std::make_shared<ForeignSources>();
  command.option("--kernels", foreign->files, kKernelsHelp, {.value = "FILE"});
  command.action([&context, foreign] {
    add_foreign_kernels(*foreign);
    check::run_worker(std::cin, context.out);
    return kAllWell;
  });
}

}  // namespace opbench
