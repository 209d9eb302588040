#include "cli/run_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <string>
#include <string_view>
#include <variant>

#include "harness/report/files.h"
#include "harness/report/prof_files.h"
#include "harness/report/report.h"
#include "harness/run/artefact.h"
#include "tensor/error.h"
#include "tensor/utf8.h"
#include "text/output_file.h"
#include "text/program.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

// The XDG base directory specification ignores paths that are not absolute.
fs::path absolute_folder(const char* variable) {
  const char* value = std::getenv(variable);
  const fs::path folder = value == nullptr ? "" : value;
  return folder.is_absolute() ? folder : fs::path();
}

/// A form of the results: the flag that names its file, and its name in the directory of --out.
struct RunFile {
  const char* flag;
  std::string RunFlags::*path;
  std::string_view format;
  std::string_view in_directory;  ///< empty: not there
  bool is_of_contexts = false;
};

constexpr RunFile kRunFiles[] = {
    {"--json", &RunFlags::json, "json", "results.json"},
    {"--csv", &RunFlags::csv, "csv", "results.csv"},
    {"--markdown", &RunFlags::markdown, "markdown", "results.md"},
    {"--junit", &RunFlags::junit, "junit", ""},
    {"--benchmark-json", &RunFlags::benchmark_json, "gbench", ""},
    {"--trace", &RunFlags::trace, "trace", "trace.json"},
    {"--op-summary", &RunFlags::op_summary, "op-summary", "op_summary.csv", true},
    {"--op-statistic", &RunFlags::op_statistic, "op-statistic", "op_statistic.csv", true},
};

// Path of the form in the directory of --out, in addition to the file of its own flag.
std::string place_in_directory(const RunFile& file, const RunFlags& flags, bool has_contexts) {
  if (flags.out_dir.empty() || file.in_directory.empty()) return {};
  if (file.is_of_contexts && !has_contexts) return {};
  const std::string place = std::filesystem::path(flags.out_dir) / file.in_directory;
  const std::string& named = flags.*file.path;
  return !named.empty() && is_same_file(named, place) ? std::string() : place;
}

std::vector<NamedFile> output_files(const RunFlags& flags) {
  std::vector<NamedFile> files = {
      {"--dump", flags.dump}, {"--artefact", flags.artefact}, {"--dot", flags.dot}};
  for (const RunFile& file : kRunFiles) {
    files.push_back({file.flag, flags.*file.path});
    files.push_back({"--out", place_in_directory(file, flags, true)});
  }
  // The names of new ones are known when they ran.
  std::error_code no_folder;
  for (const auto& entry : fs::directory_iterator(flags.prof_dir, no_folder)) {
    if (entry.path().extension() == ".prof") files.push_back({"--prof-dir", entry.path().string()});
  }
  return files;
}

// A file with only titles would look like a run without tasks.
void refuse_tasks_of_operators(const RunFlags& flags) {
  for (const RunFile& file : kRunFiles) {
    const std::string& path = flags.*file.path;
    if (!file.is_of_contexts || path.empty()) continue;
    throw Error(fmt::format("{} '{}' needs a context, but only single operators are selected",
                            file.flag, path));
  }
}

// The reason why nothing was dumped.
std::string why_nothing_ran(const RunResult& result) {
  if (result.records.empty()) return "the run was interrupted before anything ran";
  const auto tried = std::find_if(result.records.begin(), result.records.end(),
                                  [](const Record& r) { return r.status != Status::skipped; });
  const Record& record = tried == result.records.end() ? result.records.front() : *tried;
  return fmt::format("nothing ran ({} {}: {})", record.variant, name(record.status), record.reason);
}

// Writes the trace of a run that recorded when its samples began.
void render_trace(std::ostream& out, const ResultsFile& results) {
  report::write_trace(out, results.run.records);
}

auto render_of(std::string_view format) {
  return format == "trace" ? render_trace : report::find_report_format(format).write;
}

// Errors: those of `read_acl_config` and `require_dumped`.
AclConfig config_for(const std::string& path, std::span<const WorkUnit> units) {
  AclConfig config = read_acl_config(path);
  std::vector<std::string> models;
  for (const WorkUnit& unit : units) {
    if (unit.is_context()) models.push_back(unit.name());
  }
  require_dumped(config, models.size() < units.size(), models);
  return config;
}

}  // namespace

fs::path last_run_file() {
  fs::path cache = absolute_folder("XDG_CACHE_HOME");
  const fs::path home = absolute_folder("HOME");
  if (cache.empty() && !home.empty()) cache = home / ".cache";
  return cache.empty() ? fs::path() : cache / "opbench" / "last.json";
}

bool keep_last_run(const ResultsFile& results) {
  const fs::path file = last_run_file();
  if (file.empty() || results.run.records.empty()) return false;
  try {
    make_directory(file.parent_path());
    OutputFile(file.string()).write([&](std::ostream& out) { write_json(out, results); });
    return true;
  } catch (const RunError&) {
    return false;
  }
}

bool keep_last_run(const RunResult& result, const CommandContext& context) {
  return keep_last_run(
      ResultsFile{"", kResultsVersion, context.command_line, describe_machine(), result, {}});
}

std::vector<NamedFile> input_files(const SelectionText& selection) {
  std::vector<NamedFile> files;
  for (std::size_t i = 0; i < selection.size(); ++i) {
    const SelectionField& field = selection_fields()[i];
    if (field.value_name != std::string_view("FILE")) continue;
    if (const auto* one = std::get_if<std::string>(&selection[i])) {
      files.push_back({field.flag, *one});
    } else if (const auto* several = std::get_if<std::vector<std::string>>(&selection[i])) {
      for (const std::string& path : *several) files.push_back({field.flag, path});
    }
  }
  return files;
}

std::vector<NamedFile> named_results(const RunFlags& flags) {
  std::vector<NamedFile> files = {{"--artefact", flags.artefact}, {"--prof-dir", flags.prof_dir}};
  for (const RunFile& file : kRunFiles) files.push_back({file.flag, flags.*file.path});
  return files;
}

void check_run_files(const RunFlags& flags, const CommandContext& context) {
  refuse_standard_output("--out", flags.out_dir, "several files", "a folder");
  refuse_standard_output("--prof-dir", flags.prof_dir, "several files", "a folder");
  refuse_standard_output("--resume", flags.resume, "several files", "a folder");
  refuse_standard_output("--dump", flags.dump, "HDF5", "a file");
  refuse_standard_output("--artefact", flags.artefact, "HDF5", "a file");
  if (flags.tensors && (flags.artefact.empty() || !flags.dump.empty())) {
    throw Error(flags.artefact.empty()
                    ? "--tensors needs --artefact FILE, to which they are written"
                    : "--tensors and --dump write the same tensors; give one of them");
  }
  std::vector<NamedFile> inputs = input_files(flags.selection);
  inputs.push_back({"--load", flags.load});
  inputs.push_back({"--map", flags.map_file});
  inputs.push_back({"--acl-json", flags.acl_json});
  check_files(inputs, output_files(flags), context);
}

RunOutputs::RunOutputs(const RunFlags& flags, CommandContext& context,
                       std::span<const WorkUnit> units)
    : context_(context) {
  const bool has_contexts = count_cases(units) < units.size();
  if (!has_contexts) refuse_tasks_of_operators(flags);
  if (!flags.prof_dir.empty() && count_cases(units) == 0) {
    throw Error("--prof-dir needs single operators; --trace writes the tasks of contexts");
  }
  check_run_files(flags, context);
  if (!flags.out_dir.empty()) make_directory(flags.out_dir);
  if (!flags.prof_dir.empty()) make_directory(flags.prof_dir);
  prof_dir_ = flags.prof_dir;
  for (const RunFile& file : kRunFiles) {
    for (const std::string& path :
         {flags.*file.path, place_in_directory(file, flags, has_contexts)}) {
      if (!path.empty())
        reports_.emplace_back(path, context_, render_of(file.format), file.format == "json");
    }
  }
  dump_path_ = flags.dump;
  if (!flags.dump.empty()) dump_.emplace(flags.dump);
  if (!flags.artefact.empty()) artefact_.emplace(flags.artefact, true);
  keeps_tensors_ = flags.tensors;
  if (!flags.acl_json.empty()) tasks_.emplace(config_for(flags.acl_json, units));
}

DumpTargets RunOutputs::dumps() {
  DumpWriter* records = dump_ ? &*dump_ : keeps_tensors_ ? &*artefact_ : nullptr;
  return {records, tasks_ ? &*tasks_ : nullptr};
}

bool RunOutputs::write(const RunResult& result) {
  return write(
      ResultsFile{"", kResultsVersion, context_.command_line, describe_machine(), result, {}});
}

bool RunOutputs::write(const ResultsFile& results) {
  bool is_well = true;
  for (Report& report : reports_) {
    if (!report.holds_all && !results.others.empty()) {
      context_.err << fmt::format(
          "{}: {} is not written: the results are of {} different machines, "
          "which only JSON holds; see opbench report --machine\n",
          program_name(), printable(report.where), results.others.size() + 1);
      continue;
    }
    is_well &= attempt(
        [&] { report.file.write([&](std::ostream& out) { report.render(out, results); }); });
  }
  if (!prof_dir_.empty()) is_well &= attempt([&] { write_profs(results.run); });
  if (dump_) is_well &= attempt([&] { finish_dump(results.run); });
  if (tasks_) is_well &= attempt([&] { finish_tasks(); });
  if (artefact_) {
    is_well &= attempt([&] {
      attach_results(*artefact_, results);
      artefact_->finish();
    });
  }
  return is_well;
}

void RunOutputs::write_profs(const RunResult& result) const {
  for (const report::ProfFile& prof : report::prof_files(result.records)) {
    OutputFile(fs::path(prof_dir_) / prof.name).write([&](std::ostream& out) {
      report::write_prof(out, prof);
    });
  }
}

// A file without a record would look like a run without results.
void RunOutputs::finish_dump(const RunResult& result) {
  if (dump_->records() > 0) return dump_->finish();
  dump_.reset();
  context_.complain(
      fmt::format("no dump is written to {}: {}", dump_path_, why_nothing_ran(result)));
}

void RunOutputs::finish_tasks() {
  tasks_->finish();
  const std::string folder = tasks_->folder().string();
  for (const std::string& layer : tasks_->unknown_layers()) {
    context_.complain(fmt::format("dump_list names '{}', but no task has this name", layer));
  }
  context_.complain(
      tasks_->tasks() > 0
          ? fmt::format("{} tasks are dumped to {}, modelled on the host; see models.csv",
                        tasks_->tasks(), folder)
          : fmt::format("no task was dumped, and {} is not written", folder));
}

bool RunOutputs::attempt(const std::function<void()>& action) const {
  try {
    action();
    return true;
  } catch (const std::exception& error) {
    context_.complain(error.what());
    return false;
  }
}

}  // namespace opbench
