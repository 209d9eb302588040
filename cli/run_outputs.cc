#include "cli/run_outputs.h"

#include <fmt/format.h>

#include <filesystem>
#include <ostream>
#include <set>
#include <vector>

#include "harness/report.h"
#include "harness/report_files.h"
#include "tensor/error.h"

namespace opbench {
namespace {

void settle_directory(RunFlags& flags) {
  if (flags.out_dir.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(flags.out_dir, error);
  if (error) {
    throw RunError(fmt::format("cannot make directory '{}': {}", flags.out_dir, error.message()));
  }
  const std::filesystem::path dir = flags.out_dir;
  if (flags.json.empty()) flags.json = dir / "results.json";
  if (flags.csv.empty()) flags.csv = dir / "results.csv";
  if (flags.markdown.empty()) flags.markdown = dir / "results.md";
  if (flags.trace.empty()) flags.trace = dir / "trace.json";
}

void refuse_repeated(const std::vector<std::string>& paths) {
  std::set<std::filesystem::path> seen;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (!path.empty() && !seen.insert(std::filesystem::weakly_canonical(path, ignored)).second) {
      throw Error(fmt::format("two results cannot go to the same file '{}'", path));
    }
  }
}

// Needs when samples began, which only the run itself knows.
void render_trace(std::ostream& out, const ResultsFile& results) {
  write_trace(out, results.run.records);
}

}  // namespace

RunOutputs::RunOutputs(RunFlags flags, const CommandContext& context) : context_(context) {
  settle_directory(flags);
  refuse_repeated({flags.json, flags.csv, flags.markdown, flags.junit, flags.benchmark_json,
                   flags.trace, flags.dump});
  reserve(flags.json, find_report_format("json").write);
  reserve(flags.csv, find_report_format("csv").write);
  reserve(flags.markdown, find_report_format("markdown").write);
  reserve(flags.junit, find_report_format("junit").write);
  reserve(flags.benchmark_json, find_report_format("gbench").write);
  reserve(flags.trace, render_trace);
  if (!flags.dump.empty()) dump_.emplace(flags.dump);
}

bool RunOutputs::write(const RunResult& result) {
  const ResultsFile results{"", kResultsVersion, context_.command_line, describe_machine(), result};
  bool is_well = true;
  for (Report& report : reports_) {
    is_well &= attempt(
        [&] { report.file.write([&](std::ostream& out) { report.render(out, results); }); });
  }
  if (dump_) is_well &= attempt([&] { dump_->finish(); });
  return is_well;
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
