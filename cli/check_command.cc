#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/run_flags.h"
#include "harness/check_gate.h"
#include "harness/check_report.h"
#include "harness/interrupt.h"
#include "harness/output_file.h"
#include "harness/report_text.h"
#include "tensor/error.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter = R"(Examples:
  opbench check --against ../base/build/release/opbench --op softplus --shapes cases/resnet.yaml --set N=1
  opbench check --against old/opbench --cases cases/shufflenet_v2.yaml --threads 1 --fail-over 1
  tools/check-against-base origin/main --cases cases/resnet.yaml     builds the other revision first

Exit codes: 0 no regression, 1 a regression, 2 bad input, 3 could not finish, 4 nothing to judge, 5 too noisy.)";

struct CheckFlags {
  RunFlags run;
  std::string against, against_directory;
  double threshold = 0;  // percent; 0: the default
  double floor_us = 0.05, budget = 600, sample_ms = 20, time_limit = 120;
  double fail_over = -1;  // percent; negative: none
  bool exclusive = false;
  std::string json, junit, markdown, out_dir;
};

constexpr double kThresholdPercent = 5, kExclusiveThresholdPercent = 3;

void check_positive(const char* flag, double value, double most) {
  if (!(value > 0 && value <= most)) {
    throw Error(fmt::format("{} is {}; it must be above 0 and at most {}", flag, value, most));
  }
}

SpeedRule rule_of(const CheckFlags& flags) {
  SpeedRule rule;
  const double standard = flags.exclusive ? kExclusiveThresholdPercent : kThresholdPercent;
  const double percent = flags.threshold == 0 ? standard : flags.threshold;
  check_positive("--threshold", percent, 1000);
  if (!(flags.floor_us >= 0)) throw Error("--floor is negative; it must be 0 or more");
  rule.threshold = percent / 100;
  rule.floor_us = flags.floor_us;
  return rule;
}

// The worker may run in another directory.
std::string program_path(const std::string& path) {
  return fs::exists(path) ? fs::absolute(path).string() : path;
}

GateOptions options_of(const CheckFlags& flags) {
  GateOptions options;
  check_positive("--time-limit", flags.time_limit, 86400);
  check_positive("--budget", flags.budget, 86400 * 7);
  check_positive("--sample", flags.sample_ms, 60000);
  options.base = {program_path(flags.against), flags.against_directory, flags.time_limit};
  options.current = {"/proc/self/exe", "", flags.time_limit};
  options.run = options_of(flags.run);
  options.isa = flags.run.isa;
  options.rule = rule_of(flags);
  if (flags.fail_over >= 0) options.fail_over_percent = flags.fail_over;
  options.budget_s = flags.budget;
  options.sample_seconds = flags.sample_ms / 1e3;
  return options;
}

int check(const CheckFlags& flags, CommandContext& context) {
  const GateOptions options = options_of(flags);
  watch_interrupts();
  GateHooks hooks;
  hooks.step = [&](const std::string& phase, std::size_t done, std::size_t total,
                   const std::string& what) {
    if (context.quiet) return;
    const std::string text =
        fmt::format("[{} {}/{}] {}", phase, done + 1, total, with_short_lists(what));
    if (context.is_progress_overwritten()) {
      context.err << "\r\033[K" << text.substr(0, context.progress_width()) << std::flush;
    } else {
      context.err << text << '\n';
    }
  };
  CheckReport report = run_gate(options, hooks);
  report.command = context.command_line;
  if (!context.quiet && context.is_progress_overwritten()) context.err << "\r\033[K";
  print_check(context.out, report, {context.colour()}, context.verbose);
  return report.exit_code();
}

}  // namespace

void add_check_command(CLI::App& app, CommandContext& context, Action& action) {
  CLI::App* command =
      app.add_subcommand("check", "Did this build make an operator slower or wrong?");
  const auto flags = std::make_shared<CheckFlags>();
  const char* how = "How to compare";
  command->add_option("--against", flags->against, "Another opbench: both builds run in turn")
      ->type_name("PROGRAM")
      ->group(how);
  command
      ->add_option("--against-directory", flags->against_directory,
                   "Where it runs, so that it reads the case files of its own revision")
      ->type_name("DIR")
      ->group(how);
  command
      ->add_option("--threshold", flags->threshold,
                   "Slower by this many percent is a regression [5; 3 with --exclusive]")
      ->type_name("PERCENT")
      ->group(how);
  command->add_option("--floor", flags->floor_us, "Smaller differences count for nothing")
      ->capture_default_str()
      ->type_name("MICROSECONDS")
      ->group(how);
  command
      ->add_option("--fail-over", flags->fail_over,
                   "Fail only if all slower cases together cost more of the network's step")
      ->type_name("PERCENT")
      ->group(how);
  command->add_flag("--exclusive", flags->exclusive, "Nothing else runs on this machine")
      ->group(how);
  command->add_option("--budget", flags->budget, "Time for all; screening comes first")
      ->capture_default_str()
      ->type_name("SECONDS")
      ->group(how);
  command->add_option("--sample", flags->sample_ms, "Length of one sample")
      ->capture_default_str()
      ->type_name("MILLISECONDS")
      ->group(how);
  command->add_option("--time-limit", flags->time_limit, "A build that does not answer is ended")
      ->capture_default_str()
      ->type_name("SECONDS")
      ->group(how);
  add_selection_flags(*command, flags->run);
  add_common_flags(*command, context);
  command->footer(kFooter);
  command->callback([&context, &action, flags] {
    action = [&context, flags] { return check(*flags, context); };
  });
}

}  // namespace opbench
