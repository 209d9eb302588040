#pragma once

#include <filesystem>

#include "cli/command.h"
#include "harness/run/results_file.h"

namespace opbench {

/// Where the results of the last run are kept: opbench/last.json in XDG_CACHE_HOME, else in
/// ~/.cache. Empty where neither is known.
std::filesystem::path last_run_file();

/// Keeps them, for `opbench report --last`. False where the file cannot be written, which is no
/// error, and where there are no results.
bool keep_last_run(const ResultsFile& results);
bool keep_last_run(const RunResult& result, const CommandContext& context);

}  // namespace opbench
