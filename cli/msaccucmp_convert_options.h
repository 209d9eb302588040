#pragma once

#include <string>
#include <vector>

namespace opbench {

/// Rewrites the arguments of `convert`, its name first, from msaccucmp.py's spelling to opbench's,
/// if a word is its -d or begins with "-d=". Without one nothing changes: there -o is a place.
/// Errors: throws UsageError for -c, which would run code, and for missing values.
void translate_msaccucmp_convert_options(std::vector<std::string>& args);

/// What --help says of them.
std::string msaccucmp_convert_options_help();

}  // namespace opbench
