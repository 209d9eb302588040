#include "cli/selected_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

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

// The paths of --path and --failed, checked.
std::vector<std::string> named_paths(const DumpListing& dump, const std::string& file,
                                     const RecordChoice& choice) {
  std::vector<std::string> paths = choice.paths;
  if (!choice.failed.empty()) {
    const std::vector<std::string> failed = failed_records(choice.failed, file);
    paths.insert(paths.end(), failed.begin(), failed.end());
  }
  return find_paths(dump, paths);
}

DumpListing listing_of(DumpFile& file) {
  file.stop_when(interrupted);
  return {file.name(), file.records(), file.strays()};
}

}  // namespace

int copy_records(const std::string& from, const std::string& to, const RecordChoice& choice,
                 CommandContext& context) {
  ProgressLine progress(context);
  progress.begin("listing");
  DumpFile file(from);
  const DumpListing dump = listing_of(file);
  std::vector<std::string> paths = named_paths(dump, from, choice);
  add_matches(dump, choice.only, paths);
  paths = find_paths(dump, choice.is_all() ? std::vector<std::string>{"/"} : paths);
  expand_root(dump, paths);
  if (paths.empty()) {
    progress.clear();
    context.complain(fmt::format("nothing in {} matches; {} is not written", from, to));
    return kNothingToJudge;
  }
  progress.begin("copying");
  extract(from, to, paths, interrupted);
  progress.clear();
  if (context.quiet) return kAllWell;
  context.out << fmt::format("{}: {} tensors of {} paths from {}\n", printable(to),
                             tensors_in(dump, paths), paths.size(), printable(from));
  if (context.verbose) {
    for (const std::string& path : paths) context.out << "  " << printable(path) << '\n';
  }
  return kAllWell;
}

std::function<bool(std::string_view)> chosen_arrays(const std::vector<std::string>& sources,
                                                    const RecordChoice& choice) {
  if (choice.is_all()) return {};
  std::function<bool(std::string_view)> only;
  if (!choice.only.empty()) only = name_pattern(choice.only, "--only");
  std::vector<std::string> paths;
  if (!choice.paths.empty() || !choice.failed.empty()) {
    if (sources.size() != 1) throw Error("--path and --failed select from one dump");
    DumpFile file(sources.front());
    paths = named_paths(listing_of(file), sources.front(), choice);
  }
  return [only, paths](std::string_view name) {
    const std::string path = fmt::format("/{}", name);
    return (only && (only(name) || only(path))) ||
           std::any_of(paths.begin(), paths.end(),
                       [&](const std::string& chosen) { return is_at_or_below(path, chosen); });
  };
}

}  // namespace opbench
