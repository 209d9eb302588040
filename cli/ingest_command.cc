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
#include "harness/check/profile_watch.h"
#include "profiles/ingest_report.h"
#include "profiles/network_cases.h"
#include "profiles/network_context.h"
#include "tensor/error.h"
#include "tensor/utf8.h"
#include "workers/interrupt.h"

namespace opbench {
namespace {

constexpr const char* kIngestFooter =
    R"(Files are recognised by their contents: op_summary*.csv, kernel_details.csv, op_statistic*.csv and OpBasicInfo.csv of
msprof and torch_npu, of all generations, also as .gz; task_time, operator_details, step_trace_time, nsys, nvprof and MindSpore tables; ONEDNN_VERBOSE output, dump.json of msprobe,
benchdnn inputs, results of opbench; Chrome traces of torch_npu, msprof and PyTorch, .prof files and printed tables of its
profiler; host logs (plog-*.log, nohup.out with ASCEND_GLOBAL_LOG_LEVEL=1; a folder stands for the logs in it) and
ascend_op_info_summary.txt. Several files are read as one profile: steps, ranks, slices.

Examples:
  opbench ingest kernel_details.csv
  opbench ingest PROF_*/mindstudio_profiler_output/op_summary_*.csv --top 30
  opbench ingest kernel_details.csv op_statistic.csv --json hot.json --csv operators.csv
  opbench ingest trace_view.json kernel_details.csv
  opbench ingest --before old/kernel_details.csv --after new/kernel_details.csv
  opbench ingest --before gpu.prof --after npu.prof
  opbench ingest log_folder --op-info ascend_op_info_summary.txt
  opbench ingest nohup.out --recompile recompile_op_list.txt
  opbench ingest kernel_details.csv plog-*.log --cases network.yaml && opbench run --cases network.yaml
  opbench ingest kernel_details.csv --context near.yaml --around Conv2D --depth 2 && opbench remedy --cases near.yaml

Exit code 2: a file could not be read or was not recognised; 4: they contain no task, or no case or context.
With --cases or --context only these are reported in full. Tables fit the terminal; --wide prints whole names and shapes.)";

struct IngestFlags {
  std::vector<std::string> files, before, after;
  std::string json, csv, op_info, recompile, cases, context, around, rules;
  std::int64_t depth = ContextWish{}.depth;
  std::int64_t top = 15, cores = 0, vector_cores = 0;
  bool is_wide = false;
};

ReportLayout layout_of(const IngestFlags& flags, const CommandContext& context) {
  return {{context.colour()},
          context.width(),
          flags.is_wide,
          context.quiet,
          static_cast<std::size_t>(std::max<std::int64_t>(0, flags.top))};
}

void refuse_lost_files(const IngestFlags& flags, const CommandContext& context) {
  std::vector<NamedFile> inputs;
  for (const auto* files : {&flags.files, &flags.before, &flags.after}) {
    for (const std::string& file : *files) inputs.push_back({"a profile", file});
  }
  if (!flags.rules.empty()) inputs.push_back({"--rules", flags.rules});
  check_files(inputs,
              std::vector<NamedFile>{{"--json", flags.json},
                                     {"--csv", flags.csv},
                                     {"--op-info", flags.op_info},
                                     {"--recompile", flags.recompile},
                                     {"--cases", flags.cases},
                                     {"--context", flags.context}},
              context);
}

int exit_code_of(const IngestResult& result) {
  if (interrupted()) return kCouldNotFinish;
  const bool is_all =
      std::all_of(result.files.begin(), result.files.end(),
                  [](const IngestedFile& file) { return !file.kind.empty() && file.is_whole; });
  if (!is_all) return kBadInput;
  return result.is_any_read() ? kAllWell : kNothingToJudge;
}

// Prints the reason for each file that could not be read or had no content.
int end_code(const IngestResult& result, CommandContext& context) {
  for (const IngestedFile& file : result.files) {
    if (!file.kind.empty() && file.is_whole) continue;
    for (const std::string& problem : file.problems) context.complain(problem);
  }
  const int code = exit_code_of(result);
  if (code == kNothingToJudge) {
    context.complain(fmt::format("{}: no task, call or event is in {}; nothing is reported",
                                 result.files.front().path,
                                 result.files.size() == 1 ? "it" : "it and the other files"));
  }
  if (code == kCouldNotFinish) context.complain("interrupted: only a part was read");
  return code;
}

// Returns false and prints the reason if there are no cases.
bool write_cases(ResultFile& file, const IngestResult& result, const ReportLayout& layout,
                 CommandContext& context) {
  const NetworkCases cases = cases_of(result);
  print_network_cases(context.out, cases, layout);
  if (cases.cases.empty()) {
    context.complain("no cases: " + why_no_cases(cases));
    return false;
  }
  file.write([&](std::ostream& out) { write_case_file(out, cases, result.files); });
  return true;
}

HotSpotRules rules_of(const IngestFlags& flags) {
  return flags.rules.empty() ? HotSpotRules::builtin() : HotSpotRules::load(flags.rules);
}

// Errors: throws Error if flags contradict each other.
void check_wish(const IngestFlags& flags) {
  constexpr std::int64_t kDeepest = 100;
  if (flags.depth < 0 || flags.depth > kDeepest) {
    throw Error(fmt::format("--depth is {}; allowed: 0 to {}", flags.depth, kDeepest));
  }
  const bool has_wish = !flags.around.empty() || flags.depth != ContextWish{}.depth;
  if (has_wish && flags.context.empty()) {
    throw Error("--around and --depth need --context FILE");
  }
}

// Returns false and prints the reason if there is no context.
bool write_context(ResultFile& file, const IngestResult& result, const ContextWish& wish,
                   const ReportLayout& layout, CommandContext& context) {
  try {
    const NetworkContext found = context_of(result, wish, [] { return interrupted(); });
    print_network_context(context.out, found, wish, layout);
    file.write([&](std::ostream& out) { write_context_file(out, found, wish); });
    return true;
  } catch (const NoContext& none) {
    context.complain(none.what());
    return false;
  }
}

// The exit code of a comparison of two profiles. Prints what is wrong with them.
int end_code(const IngestResult& before, const IngestResult& after, CommandContext& context) {
  int code = kAllWell;
  for (const IngestResult* one : {&before, &after}) {
    const int end = end_code(*one, context);
    if (code == kAllWell) code = end;
    if (end != kAllWell || check::can_compare(*one)) continue;
    context.complain(one->files.front().path + ": no operator with a time is in it to compare");
    if (code == kAllWell) code = kNothingToJudge;
  }
  return code;
}

// A comparison of profiles fails only for input that cannot be read.
int compare_profiles(const IngestFlags& flags, CommandContext& context) {
  if (flags.before.empty() || flags.after.empty() || !flags.files.empty()) {
    throw Error(
        "--before FILE... and --after FILE... are the only inputs of a comparison; other files are "
        "not allowed");
  }
  refuse_lost_files(flags, context);
  constexpr std::size_t kSamples = 64;
  std::optional<ResultFile> json;
  if (!flags.json.empty()) json.emplace(flags.json, context);
  watch_interrupts();
  ProgressLine progress(context);
  const HotSpotRules rules = rules_of(flags);
  const ReportLayout layout = layout_of(flags, context);
  const auto read = [&](const std::vector<std::string>& files) {
    IngestResult result = ingest_files(
        files, [&](const std::string& path) { progress.begin("reading " + path); },
        [] { return interrupted(); }, rules, kSamples);
    progress.clear();
    for (const IngestedFile& file : result.files) {
      if (file.kind.empty() || !file.is_whole) continue;
      for (const std::string& problem : file.problems) {
        ReportLines(context.out, layout).text(printable(problem), 0, 2);
      }
    }
    return result;
  };
  const IngestResult before = read(flags.before), after = read(flags.after);
  const int code = end_code(before, after, context);
  if (!check::can_compare(before) || !check::can_compare(after)) return code;
  const check::ProfileComparison comparison = check::compare_profiles(before, after, {});
  check::print_profile_comparison(context.out, comparison, layout);
  if (json) {
    json->write([&](std::ostream& out) {
      check::write_profile_comparison(out, comparison, context.command_line);
    });
  }
  return code;
}

int ingest(const IngestFlags& flags, CommandContext& context) {
  if (!flags.before.empty() || !flags.after.empty()) return compare_profiles(flags, context);
  if (flags.files.empty())
    throw Error("no file is given; ingest reads files of a profiler, such as kernel_details.csv");
  refuse_lost_files(flags, context);
  check_wish(flags);
  watch_interrupts();
  std::optional<ResultFile> json, csv, op_info, recompile, cases, near;
  if (!flags.json.empty()) json.emplace(flags.json, context);
  if (!flags.csv.empty()) csv.emplace(flags.csv, context);
  if (!flags.op_info.empty()) op_info.emplace(flags.op_info, context);
  if (!flags.recompile.empty()) recompile.emplace(flags.recompile, context);
  if (!flags.cases.empty()) cases.emplace(flags.cases, context);
  if (!flags.context.empty()) near.emplace(flags.context, context);
  ProgressLine progress(context);
  const HotSpotRules rules = rules_of(flags);
  const IngestResult result = ingest_files(
      flags.files, [&](const std::string& path) { progress.begin("reading " + path); },
      [] { return interrupted(); }, rules);
  progress.clear();
  IngestReport report{
      layout_of(flags, context), {flags.cores, flags.vector_cores}, {}, cases || near};
  report.findings = find_remarks(result, report.cores);
  print_ingest(context.out, result, report);
  if (json) {
    json->write([&](std::ostream& out) {
      write_ingest_json(out, result, report.findings, context.command_line);
    });
  }
  if (csv) csv->write([&](std::ostream& out) { write_ingest_csv(out, result); });
  if (op_info) op_info->write([&](std::ostream& out) { write_op_info(out, result.logs); });
  if (recompile) recompile->write([&](std::ostream& out) { write_recompiles(out, result.logs); });
  const int code = end_code(result, context);
  if (!result.is_any_read()) return code;
  const ContextWish wish{flags.around, static_cast<int>(flags.depth)};
  const bool has_cases = !cases || write_cases(*cases, result, report.layout, context);
  const bool has_context = !near || write_context(*near, result, wish, report.layout, context);
  return code == kAllWell && !(has_cases && has_context) ? kNothingToJudge : code;
}

}  // namespace

void add_ingest_command(CommandLine& line, CommandContext& context) {
  Command command =
      line.add_command("ingest", "Show where a network spends time, from profiles and logs");
  const auto flags = std::make_shared<IngestFlags>();
  command.option("FILE", flags->files, "Profiles and logs of one network, read together",
                 {.value = "FILE"});
  command.option("--before", flags->before, "With --after: two profiles, operator by operator",
                 {.value = "FILE"});
  command.option("--after", flags->after, "The later profile of the two", {.value = "FILE"});
  command.option("--top", flags->top, "Rows of each table; 0: all",
                 {.value = "N", .shows_default = true});
  command.flag("--wide", flags->is_wide, "Print whole names and shapes in long lines");
  command.option("--cores", flags->cores,
                 "AI cores (cube cores) of the device, to check block dims", {.value = "N"});
  command.option("--vector-cores", flags->vector_cores, "Vector cores of the device",
                 {.value = "N"});
  command.option(
      "--rules", flags->rules,
      "YAML file with groups and thresholds that replace those of profiles/hot_spot_rules.yaml",
      {.value = "FILE"});
  command.option("--json", flags->json, "All results; - is standard output", {.value = "FILE"});
  command.option("--csv", flags->csv, "A line for each operator; - is standard output",
                 {.value = "FILE"});
  command.option(
      "--op-info", flags->op_info,
      "Different calls of the logs, one a line, in the form of ascend_op_info_summary.txt",
      {.value = "FILE"});
  command.option("--recompile", flags->recompile,
                 "Operators compiled in each step, in the form of recompile_op_list.txt",
                 {.value = "FILE"});
  command.option("--cases", flags->cases,
                 "The network's operators as a case file with counts and weights, for opbench run",
                 {.value = "FILE"});
  command.option("--context", flags->context,
                 "An operator and its neighbours as a context, for opbench run and remedy",
                 {.value = "FILE"});
  command.option(
      "--around", flags->around,
      "With --context: the operator's type, or a part of its name [the hottest operator]",
      {.value = "NAME"});
  command.option("--depth", flags->depth, "With --context: steps to producers and to consumers",
                 {.value = "N", .shows_default = true});
  add_overwrite_flag(command, context);
  add_common_flags(command, context);
  command.common({"--top", "--before", "--after", "--cases", "--context", "--around", "--cores",
                  "--rules", "--json", "--csv"});
  command.footer(kIngestFooter);
  command.action([&context, flags] { return ingest(*flags, context); });
}

}  // namespace opbench
