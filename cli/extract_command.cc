#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <ostream>
#include <vector>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/named_files.h"
#include "cli/progress.h"
#include "compare/failed_records.h"
#include "dump/dump_file.h"
#include "dump/dump_selection.h"
#include "tensor/error.h"
#include "tensor/utf8.h"
#include "text/name_pattern.h"
#include "text/program.h"
#include "workers/interrupt.h"

namespace opbench {
namespace {

constexpr const char* kExtractFooter = R"(Examples:
  opbench extract npu.h5 -s /softplus/2/ -o softplus.h5
  opbench extract npu.h5 -s /softplus/2 -s /relu/3/input/self -o two.h5
  opbench extract npu.h5 --only 'Conv.*Backward' -o convolutions.h5
  opbench extract npu.h5 --failed report/compare.json -o failed.h5    what failed

Copies like `h5copy -p`: attributes, dtypes and layout stay. The file appears when it is
complete. Exit code 4: nothing matched.)";

struct ExtractFlags {
  std::string file;
  std::vector<std::string> sources;
  std::string only, failed, output;
};

void check_extract_flags(const ExtractFlags& flags, const CommandContext& context) {
  if (flags.sources.empty() && flags.only.empty() && flags.failed.empty()) {
    throw Error("nothing is selected: use -s /op/number, --only REGEX or --failed FILE");
  }
  refuse_standard_output("-o", flags.output, "HDF5", "a file");
  check_files(std::vector<NamedFile>{{"the dump", flags.file}, {"--failed", flags.failed}},
              std::vector<NamedFile>{{"-o", flags.output}}, context);
}

void add_matches(const DumpListing& dump, const std::string& pattern,
                 std::vector<std::string>& paths) {
  if (pattern.empty()) return;
  const auto only = name_pattern(pattern, "--only");
  for (const DumpRecord& record : dump.records) {
    const std::string path = fmt::format("/{}/{}", record.op, record.seq_text);
    const bool is_matched = only(record.op) || only(path) ||
                            std::any_of(record.entries.begin(), record.entries.end(),
                                        [&](const DumpEntry& entry) { return only(entry.path); });
    if (is_matched) paths.push_back(path);
  }
  for (const DumpEntry& entry : dump.strays) {
    if (only(entry.path)) paths.push_back(entry.path);
  }
}

// Copies group by group, since the root group exists already.
void expand_root(const DumpListing& dump, std::vector<std::string>& paths) {
  if (std::find(paths.begin(), paths.end(), "/") == paths.end()) return;
  paths.clear();
  for (const DumpRecord& record : dump.records) paths.push_back("/" + record.op);
  for (const DumpEntry& entry : dump.strays) paths.push_back(entry.path);
  paths = find_paths(dump, paths);
}

std::size_t tensors_in(const DumpListing& dump, const std::vector<std::string>& paths) {
  std::size_t count = 0;
  const DumpSelection selection = select(dump, {paths, {}});
  const auto is_tensor = [](const DumpEntry* entry) { return entry->kind == EntryKind::tensor; };
  for (const SelectedRecord& record : selection.records) {
    count += static_cast<std::size_t>(
        std::count_if(record.entries.begin(), record.entries.end(), is_tensor));
  }
  return count + static_cast<std::size_t>(
                     std::count_if(selection.strays.begin(), selection.strays.end(), is_tensor));
}

int extract_command(const ExtractFlags& flags, CommandContext& context) {
  check_extract_flags(flags, context);
  std::vector<std::string> asked = flags.sources;
  if (!flags.failed.empty()) {
    const std::vector<std::string> failed = failed_records(flags.failed, flags.file);
    asked.insert(asked.end(), failed.begin(), failed.end());
  }
  watch_interrupts();
  ProgressLine progress(context);
  progress.begin("listing");
  DumpFile file(flags.file);
  file.stop_when(interrupted);
  const DumpListing dump{file.name(), file.records(), file.strays()};
  add_matches(dump, flags.only, asked);
  std::vector<std::string> paths = find_paths(dump, asked);
  expand_root(dump, paths);
  if (paths.empty()) {
    progress.clear();
    context.err << fmt::format("{}: nothing in {} matches; {} is not written\n", program_name(),
                               printable(flags.file), printable(flags.output));
    return kNothingToJudge;
  }
  progress.begin("copying");
  extract(flags.file, flags.output, paths, interrupted);
  progress.clear();
  context.out << fmt::format("{}: {} tensors of {} paths from {}\n", printable(flags.output),
                             tensors_in(dump, paths), paths.size(), printable(flags.file));
  if (context.verbose) {
    for (const std::string& path : paths) context.out << "  " << printable(path) << '\n';
  }
  return kAllWell;
}

}  // namespace

void add_extract_command(CommandLine& line, CommandContext& context) {
  Command command =
      line.add_command("extract", "Copy operators of a dump into a file of their own");
  const auto flags = std::make_shared<ExtractFlags>();
  command.option("FILE", flags->file, "The dump", {.value = "FILE", .is_required = true});
  command.option("-s,--source", flags->sources,
                 "Path to copy: /op, /op/number, or a tensor; may be repeated",
                 {.value = "PATH", .values = ValueSplit::one_each});
  command.option("--only", flags->only,
                 "Operators whose name or tensor path matches this regular expression",
                 {.value = "REGEX"});
  command.option(
      "--failed", flags->failed,
      "Failed operators of compare.json of `opbench compare -o`, or of the JSON of `opbench judge`",
      {.value = "FILE"});
  command.option("-o,--output", flags->output, "The file to write",
                 {.value = "FILE", .is_required = true});
  add_overwrite_flag(command, context);
  add_common_flags(command, context);
  command.footer(kExtractFooter);
  command.action([&context, flags] { return extract_command(*flags, context); });
}

}  // namespace opbench
