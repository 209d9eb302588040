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

/// What msaccucmp goes on without.
struct MsaccucmpNotes {
  std::vector<std::string> without_effect;      ///< options, as they were typed; they are removed
  std::vector<std::string> unknown_algorithms;  ///< left out of the list, as others are there
};

/// Rewrites the arguments of `compare`, its name first, from msaccucmp.py's spelling to opbench's.
/// Options are read as its argparse reads them: exact names, `-alg=0,1`, prefixes that only one
/// option has, `-alg 1 2 8`. What opbench spells in the same way is left alone. One letter means
/// what msaccucmp means by it only where the dumps are named as it names them, with -m and -g.
///
/// Errors: throws UsageError for what msaccucmp does not take either for HDF5 dumps, with what to
/// use instead, for prefixes of several options, and for missing or superfluous values.
MsaccucmpNotes translate_msaccucmp_options(std::vector<std::string>& args);

/// What --help says of them.
std::string msaccucmp_options_help();

}  // namespace opbench
