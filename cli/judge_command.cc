#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/named_files.h"
#include "cli/progress.h"
#include "compare/judge_report.h"
#include "compare/name_map_file.h"
#include "harness/run/machine.h"
#include "tensor/error.h"
#include "tensor/parallel.h"
#include "text/fitted.h"
#include "text/name_pattern.h"
#include "workers/interrupt.h"

namespace opbench {
namespace {

constexpr const char* kJudgeFooter =
    R"(Computes every recorded operator in fp64 from its own recorded inputs. Its recorded output must be a possible result of
a correct kernel of that dtype. Errors of its inputs do not count.
  GUILTY    no correct kernel computes this output from these inputs
  OK        correct for its inputs; any error is inherited from them
  RANDOM    drawn at random (dropout)
  UNKNOWN   not in the table of operators (opbench opmap), or something it needs is not recorded

Examples:
  opbench judge npu.h5
  opbench judge npu.h5 gpu.h5
  opbench judge npu.h5 --only 'Conv.*Backward' --json judge.json
  opbench judge npu.h5 --map mine.yaml --implementations all
  mpirun -np 4 opbench judge npu.h5                          by four processes

Exit code 1: an operator is GUILTY; 4: nothing could be judged.)";

struct JudgeFlags {
  std::vector<std::string> dumps;  // one or two
  std::string only, map_file, json, csv, implementations = "some", standard = "bound";
  std::int64_t top = 20, memory_mib = 512;
  int threads = 0;
  bool is_strict = false;
};

NameImplementations parse_implementations(const std::string& text) {
  if (text == "none") return NameImplementations::none;
  if (text == "some") return NameImplementations::some;
  if (text == "all") return NameImplementations::all;
  throw Error(fmt::format("--implementations is '{}'; allowed: none, some, all", text));
}

JudgeOptions options_of(const JudgeFlags& flags, const Ranks& ranks) {
  constexpr std::int64_t kMostMib = std::int64_t{1} << 30;
  if (flags.memory_mib < 1 || flags.memory_mib > kMostMib) {
    throw Error(
        fmt::format("--memory is {}; it must be from 1 to {} MiB", flags.memory_mib, kMostMib));
  }
  if (flags.threads < 0 || flags.threads > 1024) {
    throw Error(fmt::format("--threads is {}; it must be from 1 to 1024", flags.threads));
  }
  if (flags.dumps.size() > 2) {
    throw Error(fmt::format("{} dumps are given; one or two are allowed", flags.dumps.size()));
  }
  JudgeOptions options;
  options.rules.allows_device_numerics = !flags.is_strict;
  options.rules.outputs = parse_output_rule(flags.standard);
  options.implementations = parse_implementations(flags.implementations);
  options.memory = static_cast<std::size_t>(flags.memory_mib) << 20;
  options.threads = flags.threads == 0 ? ranks.share_of_cores() : flags.threads;
  if (!flags.only.empty()) options.only = name_pattern(flags.only, "--only");
  return options;
}

int exit_code_of(const std::vector<JudgedDump>& judged) {
  if (interrupted()) return kCouldNotFinish;
  std::int64_t guilty = 0, others = 0;
  for (const JudgedDump& dump : judged) {
    guilty += dump.count(Ruling::guilty);
    others += dump.count(Ruling::ok) + dump.count(Ruling::random);
  }
  if (guilty > 0) return kVerdictFailed;
  return others > 0 ? kAllWell : kNothingToJudge;
}

// Prints the reasons for dumps in which no operator could be judged.
void say_why_not_judged(const std::vector<JudgedDump>& judged, const CommandContext& context) {
  for (const JudgedDump& dump : judged) {
    const auto unknown =
        std::find_if(dump.records.begin(), dump.records.end(),
                     [](const JudgedRecord& record) { return !record.reason.empty(); });
    const std::string first = unknown == dump.records.end()
                                  ? ""
                                  : fmt::format(", first {}: {}", unknown->path(), unknown->reason);
    context.complain(dump.records.empty()
                         ? fmt::format("{} holds no operator to judge", dump.file)
                         : fmt::format("{}: none of {} could be judged{}; --map FILE adds names of "
                                       "operators and arguments",
                                       dump.file, counted(dump.records.size(), "operator"), first));
  }
}

/// The output files, reserved before the work.
struct JudgeFiles {
  std::optional<ResultFile> json, csv;

  void open(const JudgeFlags& flags, CommandContext& context) {
    std::vector<NamedFile> inputs = {{"--map", flags.map_file}};
    for (const std::string& dump : flags.dumps) inputs.push_back({"the dump", dump});
    check_files(inputs, std::vector<NamedFile>{{"--json", flags.json}, {"--csv", flags.csv}},
                context);
    if (!flags.json.empty()) json.emplace(flags.json, context);
    if (!flags.csv.empty()) csv.emplace(flags.csv, context);
  }
};

using Dumps = std::vector<std::unique_ptr<DumpSource>>;

bool has_selected(const Dumps& files, const JudgeOptions& options) {
  if (!options.only) return true;
  return std::any_of(files.begin(), files.end(), [&](const auto& file) {
    const auto& records = file->records();
    return std::any_of(records.begin(), records.end(),
                       [&](const DumpRecord& record) { return is_selected(record, options); });
  });
}

int say_nothing_selected(const Dumps& files, const JudgeFlags& flags, CommandContext& context) {
  constexpr std::size_t kMostNames = 8;
  std::set<std::string> ops;
  for (const auto& file : files) {
    for (const DumpRecord& record : file->records()) ops.insert(record.op);
  }
  std::vector<std::string> names(ops.begin(), ops.end());
  if (names.size() > kMostNames) {
    names.resize(kMostNames);
    names.push_back(fmt::format("and {} more", ops.size() - kMostNames));
  }
  if (context.ranks.is_first()) {
    context.complain(fmt::format("--only '{}': no operator of {} matches; there are {}", flags.only,
                                 files[0]->name(), fmt::join(names, ", ")));
  }
  return kNothingToJudge;
}

JudgeOrigin origin_of(const CommandContext& context) {
  const Machine machine = describe_machine();
  return {context.command_line, machine.version, machine.revision, machine.date};
}

int judge_command(const JudgeFlags& flags, CommandContext& context) {
  const JudgeOptions options = options_of(flags, context.ranks);
  std::optional<OpTable> extended;
  if (!flags.map_file.empty()) extended = OpTable::load(flags.map_file);
  Dumps files;
  for (const std::string& dump : flags.dumps) files.push_back(std::make_unique<DumpSource>(dump));
  watch_interrupts();
  JudgeFiles results;
  if (context.ranks.is_first()) results.open(flags, context);
  if (!has_selected(files, options)) return say_nothing_selected(files, flags, context);
  ProgressLine progress(context);
  std::vector<JudgedDump> judged;
  for (const auto& file : files) {
    progress.begin("judging " + file->name());
    file->stop_when([] { return interrupted(); });
    judged.push_back(judge_dump(
        context.ranks, *file, extended ? *extended : OpTable::builtin(), options,
        [&](std::size_t done, std::size_t all) { progress.begin(done, all); },
        [] { return interrupted(); }));
  }
  progress.clear();
  if (!context.ranks.is_first()) return kAllWell;
  const auto top = static_cast<std::size_t>(std::max<std::int64_t>(0, flags.top));
  for (const JudgedDump& dump : judged) {
    print_judged(context.out, dump, top, context.verbose, {context.colour()});
    if (&dump != &judged.back()) context.out << '\n';
  }
  std::vector<JudgedPair> pairs;
  if (judged.size() == 2) {
    const NameMap map = flags.map_file.empty() ? default_name_map() : load_name_map(flags.map_file);
    pairs = pair_judged(*files[0], judged[0], *files[1], judged[1], map);
    print_judged_pairs(context.out, pairs, judged[0], judged[1], top,
                       {context.colour(), context.width()});
  }
  if (results.csv) {
    results.csv->write([&](std::ostream& out) { write_judged_csv(out, judged); });
  }
  if (results.json) {
    results.json->write([&](std::ostream& out) {
      if (judged.size() == 1) return write_judged_json(out, judged[0], origin_of(context));
      write_judged_json(out, judged[0], judged[1], pairs, origin_of(context));
    });
  }
  const int code = exit_code_of(judged);
  if (code == kNothingToJudge) say_why_not_judged(judged, context);
  return code;
}

}  // namespace

void add_judge_command(CommandLine& line, CommandContext& context) {
  Command command =
      line.add_command("judge", "Check each operator of one dump against its recorded inputs");
  const auto flags = std::make_shared<JudgeFlags>();
  command.option("DUMP", flags->dumps,
                 "HDF5 dump; two dumps of one network: each alone, and then pairs of records",
                 {.value = "FILE", .is_required = true});
  command.option(
      "--only", flags->only,
      "Only records whose operator or module (layer2.0.bn1) matches this regular expression",
      {.value = "REGEX"});
  command.option("--map", flags->map_file, "More operators; see opbench opmap", {.value = "FILE"});
  command.option("--top", flags->top, "GUILTY operators to print; 0: all",
                 {.value = "N", .shows_default = true});
  command.option("--implementations", flags->implementations,
                 "Run opbench's variants to find which one computed a record: none, all, or some: "
                 "GUILTY records and one of each operator and dtype",
                 {.value = "WHICH", .shows_default = true});
  command.option("--standard", flags->standard,
                 "Allowed error of a rounded output: bound, control, mixed, exact, statistical, "
                 "cosine or prec=X; see opbench run --help-all",
                 {.value = "NAME", .shows_default = true});
  command.flag("--strict", flags->is_strict,
               "Also GUILTY: fp32 products of fp16 operands, and fp16 that saturates");
  command.option("--memory", flags->memory_mib,
                 "MiB for one operator; an operator that needs more is UNKNOWN",
                 {.value = "MIB", .shows_default = true});
  command.option("--threads", flags->threads, "Threads [all cores]", {.value = "N"});
  command.option("--json", flags->json, "All results; - is standard output", {.value = "FILE"});
  command.option("--csv", flags->csv, "A line for each output; - is standard output",
                 {.value = "FILE"});
  add_overwrite_flag(command, context);
  add_common_flags(command, context);
  command.common({"--only", "--standard", "--top", "--implementations", "--strict", "--json",
                  "--csv", "--map", "--threads"});
  command.footer(kJudgeFooter);
  command.action([&context, flags] { return judge_command(*flags, context); });
}

}  // namespace opbench
