#include "cli/last_run.h"

#include <cstdlib>
#include <string>

#include "tensor/error.h"
#include "text/output_file.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

// The specification of the XDG base directories ignores paths that are not absolute.
fs::path absolute_folder(const char* variable) {
  const char* value = std::getenv(variable);
  const fs::path folder = value == nullptr ? "" : value;
  return folder.is_absolute() ? folder : fs::path();
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

}  // namespace opbench
