#include <fmt/format.h>

#include <filesystem>

#include "cli/check_command.h"
#include "tensor/error.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

constexpr double kThresholdPercent = 5, kExclusiveThresholdPercent = 3;
constexpr double kMostPercent = 1000, kMostFloorUs = 1e6;

// An infinite value or NaN would make every comparison pass.
void check_positive(const char* flag, double value, double most) {
  if (!(value > 0 && value <= most)) {
    throw Error(fmt::format("{} is {}; it must be above 0 and at most {}", flag, value, most));
  }
}

void check_from_zero(const char* flag, double value, double most) {
  if (!(value >= 0 && value <= most)) {
    throw Error(fmt::format("{} is {}; it must be from 0 to {}", flag, value, most));
  }
}

// Without this check, --update would be ignored without a message.
void require_baseline(const CheckFlags& flags) {
  if (!flags.baseline.empty()) return;
  refuse_given({{"--update", flags.update},
                {"--current", !flags.current.empty()},
                {"--gate", !flags.gate.empty()},
                {"--allow-other-machine", flags.allow_other_machine}},
               "is for stored results, --baseline FILE, and not for --against");
}

void refuse_gate_flags_of_stored(const CheckFlags& flags) {
  if (flags.baseline.empty()) return;
  refuse_given({{"--cold-start", flags.cold_start}},
               "is for --against, and not for --baseline: it starts processes");
  refuse_given({{"--fail-over", flags.fail_over.has_value()},
                {"--fail-on", flags.fail_on != "slower"},
                {"--bits", flags.bits},
                {"--against-directory", !flags.against_directory.empty()}},
               "is for --against, and not for --baseline");
}

bool fails_on_ambiguous(const std::string& verdict) {
  if (verdict == "slower") return false;
  if (verdict == "ambiguous") return true;
  throw Error(fmt::format("--fail-on is '{}'; it must be slower or ambiguous", verdict));
}

// The worker may run in another directory. A name without a file is looked up in PATH.
std::string program_path(const std::string& path) {
  std::error_code none;
  return fs::exists(path, none) ? fs::absolute(path).string() : path;
}

void add_gate_flags(Command& command, CheckFlags& flags) {
  const char* how = "How to compare";
  command.option("--against", flags.against, "Baseline build of opbench; both builds run in turn",
                 {"PROGRAM", how});
  command.option("--against-kernels", flags.against_kernels,
                 "Baseline build of the kernels of --kernels; both builds run in turn",
                 {.value = "FILE", .group = how});
  command.option("--against-directory", flags.against_directory,
                 "Directory in which the baseline runs; it reads its own case files there",
                 {"DIR", how});
  command.option("--threshold", flags.threshold,
                 "A case that is slower by more is a regression [5; 3 with --exclusive]",
                 {"PERCENT", how});
  command.option("--floor", flags.floor_us,
                 "Smaller differences are ignored [0.05, and at most 25 % of a call]",
                 {"MICROSECONDS", how});
  command.option(
      "--fail-over", flags.fail_over,
      "Fail only if all slower cases together add more to the network's time, or one step "
      "of a context is slower by more",
      {"PERCENT", how});
  command.option("--fail-on", flags.fail_on,
                 "`slower`, or `ambiguous`: cases that are not decided fail, too",
                 {.value = "VERDICT", .group = how, .shows_default = true});
  command.option("--waivers", flags.waivers,
                 "YAML file of accepted regressions, each with a reason and an end date",
                 {"FILE", how});
  command.flag("--bits", flags.bits, "Fail if result bits differ from the baseline", how);
  command.flag("--cold-start", flags.cold_start,
               "Also compare first calls: prepare and call an operator in a new process", how);
  command.flag("--exclusive", flags.exclusive, "State that nothing else runs on this machine", how);
  command.option("--budget", flags.budget,
                 "Time for the whole check; undecided cases are measured until it ends",
                 {.value = "SECONDS", .group = how, .shows_default = true});
  command.option("--sample", flags.sample_ms, "Length of one sample",
                 {.value = "MILLISECONDS", .group = how, .shows_default = true});
  command.option("--time-limit", flags.time_limit,
                 "Time after which a build without an answer is ended",
                 {.value = "SECONDS", .group = how, .shows_default = true});
}

void add_stored_flags(Command& command, CheckFlags& flags) {
  const char* stored =
      "Against stored results: a watch, not a gate, since their times are of other processes";
  command.option("--baseline", flags.baseline, "Results of `opbench run --json`", {"FILE", stored});
  command.option("--current", flags.current,
                 "Results to compare with the baseline; the selection applies [run now]",
                 {"FILE", stored});
  command.option("--gate", flags.gate, "`stored`: a slower case fails all the same",
                 {"NAME", stored});
  command.flag("--allow-other-machine", flags.allow_other_machine,
               "Compare times of different machines", stored);
  command.flag("--update", flags.update,
               "Replace the baseline by the results; FILE.anchor keeps the first baseline", stored);
}

void add_result_flags(Command& command, CheckFlags& flags) {
  const char* results =
      "Where results go (- is standard output; verdicts then go to standard error)";
  command.option("--json", flags.json, "All verdicts, times and errors", {"FILE", results});
  command.option("--junit", flags.junit,
                 "JUnit XML with a test case for each variant of a case and each step of a context",
                 {"FILE", results});
  command.option("--markdown", flags.markdown,
                 "For a pull request: at most ten rows, the rest folded", {"FILE", results});
  command.option("--out", flags.out_dir, "Directory for check.json, junit.xml and check.md",
                 {"DIR", results});
  command.option("--history", flags.history,
                 "Append one line with verdicts and times, for `opbench report --history`",
                 {"FILE", results});
}

}  // namespace

void add_check_flags(Command& command, CheckFlags& flags) {
  add_gate_flags(command, flags);
  add_stored_flags(command, flags);
  add_result_flags(command, flags);
}

check::SpeedRule speed_rule_of(const CheckFlags& flags) {
  check::SpeedRule rule;
  const double standard = flags.exclusive ? kExclusiveThresholdPercent : kThresholdPercent;
  const double percent = flags.threshold.value_or(standard);
  check_positive("--threshold", percent, kMostPercent);
  rule.threshold = percent / 100;
  if (!flags.floor_us) return rule;
  check_from_zero("--floor", *flags.floor_us, kMostFloorUs);
  rule.floor_us = *flags.floor_us;
  rule.most_floor_share = std::numeric_limits<double>::infinity();
  return rule;
}

namespace {

// Each build gets kernels of its own, which have equal names.
void compare_kernels(const CheckFlags& flags, check::GateOptions& options) {
  std::vector<std::string>& files = options.run.selection.foreign.files;
  if (files.empty()) {
    throw Error("--against-kernels needs --kernels FILE, the present build of these kernels");
  }
  if (flags.against.empty()) options.base.path = options.current.path;
  options.base.kernels = flags.against_kernels;
  options.current.kernels = std::exchange(files, {});
}

}  // namespace

check::GateOptions gate_options_of(const CheckFlags& flags) {
  check::GateOptions options;
  require_baseline(flags);
  refuse_gate_flags_of_stored(flags);
  check_positive("--time-limit", flags.time_limit, 86400);
  check_positive("--budget", flags.budget, 86400 * 7);
  check_positive("--sample", flags.sample_ms, 60000);
  options.base = {program_path(flags.against), flags.against_directory, flags.time_limit};
  options.current = {"/proc/self/exe", "", flags.time_limit};
  options.run = options_of_part(flags.run);
  if (!flags.against_kernels.empty()) compare_kernels(flags, options);
  options.isa = flags.run.isa;
  options.rule = speed_rule_of(flags);
  if (flags.fail_over) check_from_zero("--fail-over", *flags.fail_over, kMostPercent);
  options.fail_over_percent = flags.fail_over;
  options.accuracy.is_strict = flags.bits;
  options.compares_first_calls = flags.cold_start;
  options.fails_on_ambiguous = fails_on_ambiguous(flags.fail_on);
  options.budget_s = flags.budget;
  options.sample_seconds = flags.sample_ms / 1e3;
  return options;
}

}  // namespace opbench
