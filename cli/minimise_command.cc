#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/named_files.h"
#include "cli/progress.h"
#include "compare/minimise.h"
#include "compare/witness_folder.h"
#include "dump/dump_selection.h"
#include "tensor/error.h"
#include "tensor/parallel.h"
#include "tensor/utf8.h"
#include "text/fitted.h"
#include "text/program.h"
#include "workers/interrupt.h"

namespace opbench {
namespace {

constexpr const char* kMinimiseFooter =
    R"(Reduces a GUILTY operator of `opbench judge` to the smallest call that is still wrong: batch, channels, plane,
elements, rows without an index. The recorded numbers stay; nothing runs again. Every step is checked: the reference
of the remaining part keeps its bits, and the operator is still GUILTY.

The folder holds
  call.h5        the call, a dump of one record
  call.py        the same by torch, or as recorded: PASS or FAIL
  call_test.cc   a GoogleTest of one file, for your own kernel
  README.md      the error, its origin and the commands to run

Examples:
  opbench minimise npu.h5                  the first operator that is GUILTY
  opbench minimise npu.h5 /softplus/2
  opbench minimise npu.h5 /CudnnConvolutionBackward/140 -o conv
  opbench minimise dump/step0 /softplus/2 --map mine.yaml

Ctrl-C writes the best so far. Exit codes: 2 bad input, 3 interrupted, 4 the record is not GUILTY.)";

constexpr const char* kAllRecords = "/";

struct MinimiseFlags {
  std::string dump, record = kAllRecords, output, map_file;
  std::int64_t memory_mib = 512;
  int threads = 0;
  bool is_strict = false;
};

JudgeOptions options_of(const MinimiseFlags& flags) {
  constexpr std::int64_t kMostMib = std::int64_t{1} << 30;
  if (flags.memory_mib < 1 || flags.memory_mib > kMostMib) {
    throw Error(
        fmt::format("--memory is {}; it must be from 1 to {} MiB", flags.memory_mib, kMostMib));
  }
  if (flags.threads < 0 || flags.threads > 1024) {
    throw Error(fmt::format("--threads is {}; it must be from 1 to 1024", flags.threads));
  }
  JudgeOptions options;
  options.rules.allows_device_numerics = !flags.is_strict;
  options.memory = static_cast<std::size_t>(flags.memory_mib) << 20;
  options.threads = flags.threads == 0 ? available_cores() : flags.threads;
  return options;
}

// All records of the dump without a path; else the record at the path. Errors: throws Error if the
// path does not name exactly one record, or the dump has no records.
std::vector<const DumpRecord*> records_at(DumpSource& file, const std::string& path) {
  const DumpListing listing{file.name(), file.records(), {}};
  const DumpSelection found = select(listing, {{path}, {}});
  if (found.records.empty()) throw Error(fmt::format("{} has no record", file.name()));
  const auto path_of = [](const SelectedRecord& one) {
    return fmt::format("/{}/{}", one.record->op, one.record->seq_text);
  };
  if (path != kAllRecords && found.records.size() > 1) {
    throw Error(fmt::format("{} records are at {} in {}, such as {} and {}; name one",
                            found.records.size(), path, file.name(), path_of(found.records[0]),
                            path_of(found.records[1])));
  }
  std::vector<const DumpRecord*> records;
  for (const SelectedRecord& one : found.records) records.push_back(one.record);
  return records;
}

// "softplus_2" in the current folder.
std::string default_folder(const JudgedRecord& record) {
  std::string name = record.op.substr(record.op.rfind('/') + 1) + "_" + record.seq;
  for (char& letter : name) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '-';
    if (!is_plain) letter = '_';
  }
  return name;
}

// The first record, in order of execution, with the verdict GUILTY. `judged` becomes its judgement,
// or that of the last record if no record is GUILTY.
std::optional<GuiltyCall> first_guilty(DumpSource& file,
                                       const std::vector<const DumpRecord*>& records,
                                       const OpTable& table, const JudgeOptions& options,
                                       JudgedRecord& judged) {
  for (const DumpRecord* record : records) {
    judged = {};
    std::optional<GuiltyCall> found = guilty_call(file, *record, table, options, judged);
    if (found || interrupted()) return found;
  }
  return std::nullopt;
}

int not_guilty(const JudgedRecord& judged, std::size_t records, const MinimiseFlags& flags,
               CommandContext& context) {
  if (records > 1) {
    context.err << fmt::format("{}: none of the {} records of {} is GUILTY\n", program_name(),
                               records, printable(flags.dump));
    return kNothingToJudge;
  }
  const std::string reason =
      judged.ruling == Ruling::ok
          ? "it is correct for its recorded inputs; `opbench judge` names the "
            "records that are not"
          : judged.reason;
  const std::string why = reason.empty() ? "" : fmt::format(": {}", reason);
  context.err << fmt::format("{}: {} of {} is {}, not GUILTY{}\n", program_name(),
                             printable(judged.path()), printable(flags.dump), name(judged.ruling),
                             printable(why));
  return kNothingToJudge;
}

void print_outcome(const GuiltyCall& found, std::int64_t trials, const std::string& folder,
                   CommandContext& context) {
  const WitnessOrigin& origin = found.origin;
  const Witness& witness = found.witness;
  const auto line = [&](const std::string& text, std::size_t indent) {
    say(context.out, text, indent, 2, context.width());
  };
  const auto change = [&](const std::string& name, const TensorDesc& before,
                          const TensorDesc& now) {
    line(fmt::format("{}: {} -> {}", name, to_string(before.shape), to_string(now.shape)), 2);
  };
  line(fmt::format("{} of {}: {} -> {} elements, {} trials", origin.record.path(), origin.file,
                   origin.elements, witness.elements(), trials),
       0);
  const Problem& problem = witness.problem();
  for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
    change(problem.op->input_name(i), witness.call->inputs[i]->desc, problem.inputs[i]);
  }
  change(problem.op->output_name(problem, witness.output), origin.output, witness.recorded().desc);
  line(fmt::format("GUILTY: {}", witness.finding.reason), 2);
  const auto bytes = std::filesystem::file_size(std::filesystem::path(folder) / "call.h5");
  line(fmt::format("{}: call.h5 ({}), call.py, call_test.cc, README.md", folder,
                   byte_size_text(double(bytes))),
       0);
}

int minimise_command(const MinimiseFlags& flags, CommandContext& context) {
  const JudgeOptions options = options_of(flags);
  refuse_standard_output("-o", flags.output, "several files", "a folder");
  std::optional<OpTable> extended;
  if (!flags.map_file.empty()) extended = OpTable::load(flags.map_file);
  watch_interrupts();
  DumpSource file(flags.dump);
  file.stop_when([] { return interrupted(); });
  ProgressLine progress(context);
  progress.begin("judging " + file.name());
  const std::vector<const DumpRecord*> records = records_at(file, flags.record);
  std::optional<NewFolder> made;
  if (!flags.output.empty()) made.emplace(flags.output);
  JudgedRecord judged;
  std::optional<GuiltyCall> found =
      first_guilty(file, records, extended ? *extended : OpTable::builtin(), options, judged);
  if (!found) {
    progress.clear();
    return interrupted() ? int{kCouldNotFinish}
                         : not_guilty(judged, records.size(), flags, context);
  }
  const std::string folder = flags.output.empty() ? default_folder(judged) : flags.output;
  if (!made) made.emplace(folder);
  progress.begin("cutting " + judged.path());
  std::int64_t trials = 0;
  with_threads(options.threads, [&] {
    trials = minimise(found->witness, options.rules, [] { return interrupted(); });
  });
  write_witness(*made, found->origin, found->witness, options);
  made->commit();
  progress.clear();
  print_outcome(*found, trials, folder, context);
  if (!interrupted()) return kAllWell;
  context.err << fmt::format("{}: interrupted; this is the best so far\n", program_name());
  return kCouldNotFinish;
}

}  // namespace

void add_minimise_command(CommandLine& line, CommandContext& context) {
  Command command = line.add_command(
      "minimise", "Reduce a wrong operator to the smallest call that is still wrong");
  const auto flags = std::make_shared<MinimiseFlags>();
  command.option("DUMP", flags->dump, "The dump", {.value = "FILE", .is_required = true});
  command.option("RECORD", flags->record, "/op/number [the first GUILTY record]",
                 {.value = "PATH"});
  command.option("-o,--out", flags->output, "Output folder, new or empty [op_number]",
                 {.value = "DIR"});
  command.option("--map", flags->map_file, "More operators; see opbench opmap", {.value = "FILE"});
  command.flag("--strict", flags->is_strict,
               "Also GUILTY: fp32 products of fp16 operands, and fp16 that saturates");
  command.option("--memory", flags->memory_mib, "MiB for the tensors of the record",
                 {.value = "MIB", .shows_default = true});
  command.option("--threads", flags->threads, "Threads [all cores]", {.value = "N"});
  add_common_flags(command, context);
  command.footer(kMinimiseFooter);
  command.action([&context, flags] { return minimise_command(*flags, context); });
}

}  // namespace opbench
