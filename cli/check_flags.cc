#include "cli/check_flags.h"

#include <fmt/format.h>

#include <filesystem>

#include "tensor/error.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

constexpr double kThresholdPercent = 5, kExclusiveThresholdPercent = 3;

void check_positive(const char* flag, double value, double most) {
  if (!(value > 0 && value <= most)) {
    throw Error(fmt::format("{} is {}; it must be above 0 and at most {}", flag, value, most));
  }
}

// The worker may run in another directory.
std::string program_path(const std::string& path) {
  return fs::exists(path) ? fs::absolute(path).string() : path;
}

void add_gate_flags(CLI::App& command, CheckFlags& flags) {
  const char* how = "How to compare";
  command.add_option("--against", flags.against, "Another opbench: both builds run in turn")
      ->type_name("PROGRAM")
      ->group(how);
  command
      .add_option("--against-directory", flags.against_directory,
                  "Where it runs, so that it reads the case files of its own revision")
      ->type_name("DIR")
      ->group(how);
  command
      .add_option("--threshold", flags.threshold,
                  "Slower by this many percent is a regression [5; 3 with --exclusive]")
      ->type_name("PERCENT")
      ->group(how);
  command.add_option("--floor", flags.floor_us, "Smaller differences count for nothing")
      ->capture_default_str()
      ->type_name("MICROSECONDS")
      ->group(how);
  command
      .add_option("--fail-over", flags.fail_over,
                  "Fail only if all slower cases together cost more of the network's step")
      ->type_name("PERCENT")
      ->group(how);
  command.add_flag("--exclusive", flags.exclusive, "Nothing else runs on this machine")->group(how);
  command.add_option("--budget", flags.budget, "Time for all; screening comes first")
      ->capture_default_str()
      ->type_name("SECONDS")
      ->group(how);
  command.add_option("--sample", flags.sample_ms, "Length of one sample")
      ->capture_default_str()
      ->type_name("MILLISECONDS")
      ->group(how);
  command.add_option("--time-limit", flags.time_limit, "A build that does not answer is ended")
      ->capture_default_str()
      ->type_name("SECONDS")
      ->group(how);
}

void add_stored_flags(CLI::App& command, CheckFlags& flags) {
  const char* stored =
      "Against stored results, which can only be watched: times of other processes";
  command.add_option("--baseline", flags.baseline, "Results of `opbench run --json`")
      ->type_name("FILE")
      ->group(stored);
  command.add_option("--current", flags.current, "Results to compare with it [run now]")
      ->type_name("FILE")
      ->group(stored);
  command.add_option("--gate", flags.gate, "`stored`: a slower case fails all the same")
      ->type_name("NAME")
      ->group(stored);
  command
      .add_flag("--allow-other-machine", flags.allow_other_machine,
                "Compare times of machines that differ")
      ->group(stored);
  command
      .add_flag("--update", flags.update,
                "Then the results become the baseline; the first one stays as FILE.anchor")
      ->group(stored);
}

void add_result_flags(CLI::App& command, CheckFlags& flags) {
  const char* results = "Where results go (the verdicts always go to standard output)";
  command.add_option("--json", flags.json, "Everything")->type_name("FILE")->group(results);
  command.add_option("--junit", flags.junit, "JUnit XML, a test case for every variant of a case")
      ->type_name("FILE")
      ->group(results);
  command
      .add_option("--markdown", flags.markdown,
                  "For a pull request: at most ten rows, the rest folded")
      ->type_name("FILE")
      ->group(results);
  command.add_option("--out", flags.out_dir, "Directory for check.json, junit.xml and check.md")
      ->type_name("DIR")
      ->group(results);
}

}  // namespace

void add_check_flags(CLI::App& command, CheckFlags& flags) {
  add_gate_flags(command, flags);
  add_stored_flags(command, flags);
  add_result_flags(command, flags);
}

SpeedRule speed_rule_of(const CheckFlags& flags) {
  SpeedRule rule;
  const double standard = flags.exclusive ? kExclusiveThresholdPercent : kThresholdPercent;
  const double percent = flags.threshold == 0 ? standard : flags.threshold;
  check_positive("--threshold", percent, 1000);
  if (!(flags.floor_us >= 0)) throw Error("--floor is negative; it must be 0 or more");
  rule.threshold = percent / 100;
  rule.floor_us = flags.floor_us;
  return rule;
}

GateOptions gate_options_of(const CheckFlags& flags) {
  GateOptions options;
  check_positive("--time-limit", flags.time_limit, 86400);
  check_positive("--budget", flags.budget, 86400 * 7);
  check_positive("--sample", flags.sample_ms, 60000);
  options.base = {program_path(flags.against), flags.against_directory, flags.time_limit};
  options.current = {"/proc/self/exe", "", flags.time_limit};
  options.run = options_of(flags.run);
  options.isa = flags.run.isa;
  options.rule = speed_rule_of(flags);
  if (flags.fail_over >= 0) options.fail_over_percent = flags.fail_over;
  options.budget_s = flags.budget;
  options.sample_seconds = flags.sample_ms / 1e3;
  return options;
}

}  // namespace opbench
