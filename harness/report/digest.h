#pragma once

#include <cstddef>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "harness/run/run_result.h"
#include "text/fitted.h"

namespace opbench::report {

/// Variants that were skipped for one reason, over all cases.
struct SkippedGroup {
  std::string reason;
  std::vector<std::string> variants;  ///< in the order of the records, each once
  std::size_t count = 0;              ///< of results
};

/// The reasons for which results were skipped, the most frequent first.
std::vector<SkippedGroup> skipped_groups(std::span<const Record> records);

/// "skipped: gather_v2, gather_v3: takes fp16 only", with how many results where there are more
/// than variants.
std::string skipped_text(const SkippedGroup& group);

/// The `most` cases whose fastest result that passed is furthest below the ceilings that its
/// machine allows, the furthest first. Steps of contexts and what was not timed are left out.
std::vector<const Record*> furthest_from_ceiling(std::span<const Record> records, std::size_t most);

/// Of many cases what a reader has to know: what is slowest against its ceiling, what was skipped
/// and why. `rows` is the command line that prints all rows.
void print_digest(std::ostream& out, const RunResult& result, const std::string& rows,
                  const ConsoleStyle& style);

}  // namespace opbench::report
