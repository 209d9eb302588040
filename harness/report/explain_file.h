#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>

#include "text/fitted.h"
#include "text/json_reader.h"

namespace opbench::report {

/// What a compare.json says of the operators in whose name, or name/number, `wanted` is found, in
/// words: verdict, origin of the error, and of every tensor what it was held to, what was found and
/// what it looks like. Without `wanted` those that fail, at most ten of them. Returns how many it
/// wrote of. Errors: throws Error with the place in the file for what is missing or of a wrong
/// type.
std::size_t explain_comparison(std::ostream& out, const JsonValue& comparison,
                               const std::string& wanted, const ConsoleStyle& style);

/// What explain_file wrote.
struct Explained {
  bool is_of_operators = false;  ///< of a comparison or a judgement
  std::size_t told = 0;          ///< cases, or operators, in words
  std::size_t listed =
      0;              ///< cases in a line each, because there are several and none was asked for
  std::string first;  ///< the id of the first of these
};

/// Writes what a file of opbench, HDF5 or JSON, holds about `wanted`: a case of a run, by its id,
/// its name or a part of either, or an operator of a comparison or a judgement. Empty: the only
/// case, a list of all, or the operators that fail. Errors: throws Error if the file cannot be read
/// or is damaged.
Explained explain_file(std::ostream& out, const std::string& path, const std::string& wanted,
                       const ConsoleStyle& style);

}  // namespace opbench::report
