#include "cli/run_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <string_view>
#include <variant>

#include "harness/report/files.h"
#include "harness/report/report.h"
#include "tensor/error.h"
#include "text/output_file.h"

namespace opbench {
namespace {

void settle_directory(RunFlags& flags, bool has_contexts) {
  if (flags.out_dir.empty()) return;
  make_directory(flags.out_dir);
  const std::filesystem::path dir = flags.out_dir;
  if (flags.json.empty()) flags.json = dir / "results.json";
  if (flags.csv.empty()) flags.csv = dir / "results.csv";
  if (flags.markdown.empty()) flags.markdown = dir / "results.md";
  if (flags.trace.empty()) flags.trace = dir / "trace.json";
  if (!has_contexts) return;
  if (flags.op_summary.empty()) flags.op_summary = dir / "op_summary.csv";
  if (flags.op_statistic.empty()) flags.op_statistic = dir / "op_statistic.csv";
}

// A file with nothing but titles would look like a run without tasks.
void refuse_tasks_of_operators(const RunFlags& flags) {
  for (const auto& [flag, path] : {std::pair("--op-summary", flags.op_summary),
                                   std::pair("--op-statistic", flags.op_statistic)}) {
    if (path.empty()) continue;
    throw Error(
        fmt::format("{} '{}' takes the tasks of a context, and only single operators were selected",
                    flag, path));
  }
}

// Why there was nothing to dump.
std::string why_nothing_ran(const RunResult& result) {
  if (result.records.empty()) return "the run was interrupted before anything ran";
  const auto tried = std::find_if(result.records.begin(), result.records.end(),
                                  [](const Record& r) { return r.status != Status::skipped; });
  const Record& record = tried == result.records.end() ? result.records.front() : *tried;
  return fmt::format("nothing ran ({} {}: {})", record.variant, name(record.status), record.reason);
}

// Needs when samples began, which only the run itself knows.
void render_trace(std::ostream& out, const ResultsFile& results) {
  report::write_trace(out, results.run.records);
}

}  // namespace

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

void require_distinct_files(const RunFlags& flags) {
  require_distinct(input_files(flags.selection),
                   std::vector<NamedFile>{{"--json", flags.json},
                                          {"--csv", flags.csv},
                                          {"--markdown", flags.markdown},
                                          {"--junit", flags.junit},
                                          {"--benchmark-json", flags.benchmark_json},
                                          {"--trace", flags.trace},
                                          {"--dump", flags.dump},
                                          {"--dot", flags.dot},
                                          {"--op-summary", flags.op_summary},
                                          {"--op-statistic", flags.op_statistic}});
}

RunOutputs::RunOutputs(RunFlags flags, const CommandContext& context, bool has_contexts)
    : context_(context) {
  if (!has_contexts) refuse_tasks_of_operators(flags);
  settle_directory(flags, has_contexts);
  require_distinct_files(flags);
  reserve(flags.json, report::find_report_format("json").write);
  reserve(flags.csv, report::find_report_format("csv").write);
  reserve(flags.markdown, report::find_report_format("markdown").write);
  reserve(flags.junit, report::find_report_format("junit").write);
  reserve(flags.benchmark_json, report::find_report_format("gbench").write);
  reserve(flags.trace, render_trace);
  reserve(flags.op_summary, report::find_report_format("op-summary").write);
  reserve(flags.op_statistic, report::find_report_format("op-statistic").write);
  dump_path_ = flags.dump;
  if (!flags.dump.empty()) dump_.emplace(flags.dump);
}

bool RunOutputs::write(const RunResult& result) {
  const ResultsFile results{"", kResultsVersion, context_.command_line, describe_machine(), result};
  bool is_well = true;
  for (Report& report : reports_) {
    is_well &= attempt(
        [&] { report.file.write([&](std::ostream& out) { report.render(out, results); }); });
  }
  if (dump_) is_well &= attempt([&] { finish_dump(result); });
  return is_well;
}

// A file without a record would look like a run without results.
void RunOutputs::finish_dump(const RunResult& result) {
  if (dump_->records() > 0) return dump_->finish();
  dump_.reset();
  context_.err << fmt::format("opbench: no dump is written to {}: {}\n", printable(dump_path_),
                              printable(why_nothing_ran(result)));
}

void RunOutputs::reserve(const std::string& path, Render render) {
  if (!path.empty()) reports_.emplace_back(path, render);
}

bool RunOutputs::attempt(const std::function<void()>& action) const {
  try {
    action();
    return true;
  } catch (const std::exception& error) {
    context_.err << "opbench: " << error.what() << '\n';
    return false;
  }
}

}  // namespace opbench
