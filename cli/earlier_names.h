#pragma once

#include <string>
#include <vector>

namespace opbench {

/// Replaces a command and flags of earlier versions by those of today. `args` begins with the
/// command; other words are not changed. Errors: throws UsageError for `extract` without a
/// selection.
void use_todays_names(std::vector<std::string>& args);

/// Lists the earlier names, with those of today, for --help-all.
std::string earlier_names_text();

}  // namespace opbench
