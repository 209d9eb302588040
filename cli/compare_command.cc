#include "cli/compare_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/msaccucmp_options.h"
#include "cli/named_files.h"
#include "cli/progress.h"
#include "compare/analysis.h"
#include "compare/dump_comparison.h"
#include "compare/msaccucmp/msaccucmp_files.h"
#include "compare/reason_groups.h"
#include "harness/check/watch.h"
#include "harness/report/compare.h"
#include "harness/run/artefact.h"
#include "harness/run/machine.h"
#include "tensor/error.h"
#include "tensor/parallel.h"
#include "tensor/utf8.h"
#include "text/fitted.h"
#include "text/output_file.h"
#include "text/program.h"
#include "workers/interrupt.h"

namespace opbench {
namespace {

using CaseVariant = std::pair<std::string, std::string>;

std::string note_of(const DumpRecord& record, std::string_view name) {
  const std::string* note = record.note(name);
  return note == nullptr ? std::string() : *note;
}

// The largest error of recorded outputs of each case and variant.
std::map<CaseVariant, double> output_errors(const Comparison& comparison) {
  std::map<CaseVariant, double> errors;
  for (const OperatorResult& op : comparison.operators) {
    if (op.actual == nullptr || !op.output_error) continue;
    double& error =
        errors[{note_of(*op.actual, "opbench_case"), note_of(*op.actual, "opbench_variant")}];
    error = std::max(error, *op.output_error);
  }
  return errors;
}

// Are both files of `opbench run --artefact`?
bool are_runs(DumpComparison& comparison) {
  return comparison.actual().has_attachments() && comparison.expected().has_attachments();
}

// Prints a table of the runs in both files. Exit code 1 if a verdict became worse, an error grew or
// a result is missing; 4 if the files have no result in common.
int compare_two_runs(DumpComparison& measured, CommandContext& context) {
  const ResultsFile first = Artefact(measured.actual().name()).results();
  const ResultsFile second = Artefact(measured.expected().name()).results();
  const auto errors = output_errors(measured.comparison());
  const auto error_of = [&](const Record& record) -> std::optional<double> {
    const auto found = errors.find({record.case_id, record.variant});
    return found == errors.end() ? std::nullopt : std::optional(found->second);
  };
  const check::RunDifferences found = check::compare_runs(context.out, first, second, error_of,
                                                          context.verbose, {context.colour()});
  if (found.pairs == 0) {
    context.complain(fmt::format("{} and {} have no timed result in common",
                                 measured.actual().name(), measured.expected().name()));
    return kNothingToJudge;
  }
  return found.worse > 0 || found.only_second > 0 ? kVerdictFailed : kAllWell;
}

constexpr const char* kCompareFooter = R"(Examples:
  opbench compare npu.h5 gpu.h5
  opbench compare npu.h5 gpu.h5 -o report --only 'Conv.*Backward' --standard cosine
  opbench compare npu.h5 gpu.h5 --golden cpu_fp64.h5         errors of both against a third dump
  opbench compare npu.h5 gpu.h5 -o compare.h5                results in one file, for opbench report
  opbench compare new.h5 old.h5                              two files of opbench run --artefact: errors and speed
  opbench compare -m npu.h5 -g gpu.h5 -out out -alg 0,1,3    msaccucmp's command line
  opbench compare npu_dump gpu_dump -o report                folders of ranks and steps
  mpirun -np 16 opbench compare npu_dump gpu_dump -o report  by 16 processes

Exit code 1: a tensor failed (see --fail-on); 4: nothing could be compared.
With -m and -g, executions are paired as in msaccucmp, and a verdict does not change the exit code.)";

/// The result files in a directory, reserved before anything is measured.
struct CompareFiles {
  CompareFiles(const std::string& directory, std::time_t now)
      : json(directory + "/compare.json"),
        csv(directory + "/compare.csv"),
        msaccucmp(directory, now) {}

  OutputFile json, csv;
  MsaccucmpFiles msaccucmp;
};

void write_results(CompareFiles& results, const ComparisonRequest& request, DumpComparison& run,
                   const std::string& directory, CommandContext& context) {
  const Comparison& comparison = run.comparison();
  results.json.write([&](std::ostream& out) { report::write_comparison_json(out, comparison); });
  results.csv.write([&](std::ostream& out) { report::write_comparison_csv(out, comparison); });
  results.msaccucmp.write(request.metrics, run.msaccucmp_lines(request.metrics), request.extras,
                          run.actual(), run.expected());
  say(context.out,
      fmt::format("Results: {0}/compare.json, {0}/compare.csv, {1}", directory,
                  results.msaccucmp.result().string()),
      0, 2, context.width());
}

// Writes the results and the console text into one HDF5 file.
void write_artefact(DumpWriter& file, const Comparison& comparison, std::size_t top) {
  std::ostringstream json, csv, console;
  report::write_comparison_json(json, comparison);
  report::write_comparison_csv(csv, comparison);
  report::print_comparison(console, comparison, top, {});
  attach_file(file, kComparisonName, json.str());
  attach_file(file, "compare.csv", csv.str());
  attach_file(file, "compare.txt", console.str());
  file.finish();
}

// Prints the progress a few times a second.
class Meter {
 public:
  Meter(ProgressLine& progress, std::int64_t bytes) : progress_(progress), bytes_(bytes) {
    progress_.begin("comparing");
    progress_.activity(byte_size_text(double(bytes)));
  }

  void tell(std::int64_t done) {
    constexpr std::chrono::milliseconds kPause(100);
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < kPause || bytes_ == 0) return;
    last_ = now;
    progress_.detail(fmt::format("{:.0f} % of {}", 100 * double(done) / double(bytes_),
                                 byte_size_text(double(bytes_))));
  }

 private:
  ProgressLine& progress_;
  std::int64_t bytes_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Recomputing takes long if many operators fail.
std::function<void(std::size_t, std::size_t)> progress_of(ProgressLine& progress) {
  return [&progress](std::size_t done, std::size_t all) {
    if (done == 0) progress.begin("explaining");
    progress.activity(fmt::format("{} operators", all));
    progress.detail(fmt::format("{} of {} operators", done, all));
  };
}

void describe(Comparison& comparison, const ComparisonRequest& request,
              const CommandContext& context) {
  const Machine machine = describe_machine();
  comparison.command = context.command_line;
  comparison.version = machine.version;
  comparison.revision = machine.revision;
  comparison.date = machine.date;
  comparison.options = request.given;
}

void refuse_to_replace_files(const CompareFlags& flags, const ComparisonRequest& request,
                             const CommandContext& context) {
  const std::string directory = flags.out_dir + "/";
  check_files(std::vector<NamedFile>{{"the dump", request.options.actual},
                                     {"the dump", request.options.expected},
                                     {"--golden", flags.golden},
                                     {"--map", flags.map_file},
                                     {"--standards", flags.standards_file}},
              std::vector<NamedFile>{{"-o", is_artefact_name(flags.out_dir) ? flags.out_dir : ""},
                                     {"-o", directory + "compare.json"},
                                     {"-o", directory + "compare.csv"},
                                     {"-o", directory + "advisor_summary.txt"}},
              context);
}

// Results of a run need another command.
void refuse_results(const std::string& path) {
  std::ifstream file(path);
  std::string head(64, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  if (!head.starts_with("{") || head.find("\"opbench\":") == head.npos) return;
  throw Error(
      fmt::format("{} holds results of {} run, and compare takes dumps; {} check --baseline "
                  "OLD --current NEW compares results",
                  path, program_name(), program_name()));
}

// The file under test comes first.
void note_swapped(const Comparison& comparison, const CommandContext& context) {
  const std::string &actual = comparison.actual.device, &expected = comparison.expected.device;
  if (expected != to_string(DeviceType::npu) || actual == expected) return;
  context.complain(fmt::format(
      "note: the first dump is of {} and is judged by the second, of {}; if the {} is under test, "
      "swap them",
      actual, expected, expected));
}

int compare_command(const CompareFlags& flags, CommandContext& context) {
  const ComparisonRequest request = request_of(flags, context.ranks);
  if (!flags.shards.empty() || (flags.my_dump.empty() && is_of_jobs(request))) {
    watch_interrupts();
    return compare_jobs(flags, request, context);
  }
  refuse_results(request.options.actual);
  refuse_results(request.options.expected);
  std::optional<CompareFiles> results;
  std::optional<DumpWriter> artefact;
  ProgressLine progress(context);
  progress.begin("listing");
  progress.activity(fmt::format("{} and {}", request.options.actual, request.options.expected));
  DumpComparison run(request.options);
  watch_interrupts();  // before there is a file that could be left behind
  if (!flags.out_dir.empty() && context.ranks.is_first()) {
    if (are_runs(run))
      throw Error("-o is for dumps; two runs are compared in the printed table only");
    refuse_to_replace_files(flags, request, context);
    if (is_artefact_name(flags.out_dir)) {
      artefact.emplace(flags.out_dir);
    } else {
      make_directory(flags.out_dir);
      results.emplace(flags.out_dir, std::time(nullptr));
    }
  }
  Meter meter(progress, run.bytes());
  MeasureHooks hooks;
  hooks.progress = [&](std::size_t, std::int64_t bytes) { meter.tell(bytes); };
  hooks.stop = [] { return interrupted(); };
  with_threads(request.threads, [&] {
    run.measure(context.ranks, hooks);
    if (context.ranks.is_first()) run.explain(progress_of(progress), hooks.stop);
  });
  if (!context.ranks.is_first()) return kAllWell;
  progress.clear();
  Comparison& comparison = run.comparison();
  describe(comparison, request, context);
  if (are_runs(run)) return compare_two_runs(run, context);
  note_swapped(comparison, context);
  report::print_comparison(context.out, comparison, request.top, {context.colour()});
  if (results) write_results(*results, request, run, flags.out_dir, context);
  if (artefact) {
    write_artefact(*artefact, comparison, request.top);
    context.out << fmt::format("Results: {}\n", printable(flags.out_dir));
  }
  const ExitCode code = exit_code(comparison, request.fail_on);
  const std::string why = why_not_compared(comparison);
  if (code != kVerdictFailed && !why.empty()) context.complain(why);
  return code == kAllWell && comparison.is_partial ? kCouldNotFinish : code;
}

}  // namespace

void add_compare_command(CommandLine& line, CommandContext& context) {
  Command command =
      line.add_command("compare", "Compare two dumps and find where they begin to differ");
  const auto flags = std::make_shared<CompareFlags>();
  add_compare_flags(command, *flags);
  add_overwrite_flag(command, context);
  add_common_flags(command, context);
  command.common({"--out", "--only", "--standard", "--golden", "--explain", "--fail-on", "--top",
                  "--map", "--shards", "--threads"});
  command.footer(fmt::format("{}\n\n{}", kCompareFooter, msaccucmp_options_help()));
  command.action([&context, flags] { return compare_command(*flags, context); });
}

}  // namespace opbench
