#pragma once

#include <string>
#include <vector>

namespace opbench {

/// Rewrites the arguments of `convert`, its name first, from msaccucmp.py's spelling to opbench's,
/// if a word is its -d or begins with "-d=". Otherwise nothing changes: there -o is a path.
/// Errors: throws UsageError for -c, which would run code, and for missing values.
void translate_msaccucmp_convert_options(std::vector<std::string>& args);

/// Text for --help about these options.
std::string msaccucmp_convert_options_help();

/// Options that msaccucmp accepts and ignores.
struct MsaccucmpNotes {
  std::vector<std::string> without_effect;      ///< options, as they were typed; they are removed
  std::vector<std::string> unknown_algorithms;  ///< removed from the list, as msaccucmp does
};

/// Rewrites the arguments of `compare`, its name first, from msaccucmp.py's spelling to opbench's.
/// Options are read as its argparse reads them: exact names, `-alg=0,1`, prefixes that only one
/// option has, `-alg 1 2 8`. Flags of opbench with the same spelling are not changed. One letter
/// has msaccucmp's meaning only if -m and -g name the dumps.
///
/// Errors: throws UsageError for options that msaccucmp itself refuses for HDF5 dumps, with the
/// flag to use instead, for prefixes of several options, and for missing or superfluous values.
MsaccucmpNotes translate_msaccucmp_options(std::vector<std::string>& args);

/// Text for --help about these options.
std::string msaccucmp_options_help();

}  // namespace opbench
