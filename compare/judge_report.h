#pragma once

#include <iosfwd>
#include <string>

#include "compare/judge_dump.h"
#include "text/fitted.h"
#include "text/json_reader.h"

namespace opbench {

/// The source of a judged dump, for the JSON.
struct JudgeOrigin {
  std::string command, version, revision, date;
};

/// Prints a record of the JSON below: its verdict, its origin, what is wrong and its symptoms.
/// `has_all`: outputs that are right, too, and the formula of each. Errors: throws Error with the
/// place in the file if a member is missing or of a wrong type.
void print_judged_record(std::ostream& out, const JsonValue& record, bool has_all,
                         const ConsoleStyle& style);

/// Prints a headline, the operators that are GUILTY in order of execution (at most `top`; 0: all),
/// the implementation that gave each result, and the unknown operators with their shares of the
/// elements.
void print_judged(std::ostream& out, const JudgedDump& judged, std::size_t top, bool verbose,
                  const ConsoleStyle& style);

/// Prints, after both dumps, the calls that are wrong on one side only, and those that are wrong on
/// both.
void print_judged_pairs(std::ostream& out, const std::vector<JudgedPair>& pairs,
                        const JudgedDump& first, const JudgedDump& second, std::size_t top,
                        const ConsoleStyle& style);

/// {"file", "command", "version", "revision", "date", "guilty", "ok", "random", "unknown",
/// "elements", "judged_elements", "problems": [..], "records": [{"op", "seq", "path", "verdict",
/// "dtype", "device", "elements", "judged_elements", "reason"?, "implementation"?, "outputs":
/// [{"path", "operator", "wrong", "reason"?, "pattern"?, "causes"?: [{"rule", "text"}],
/// "numerics"?, "formula", "elements", "wrong_elements", "min_tolerance"}]}]}. Outputs of the
/// first 24 wrong records also have "histogram", "error_map" and so on, as in compare.json. For two
/// dumps:
/// {"first": .., "second": .., "pairs": [{"first": path, "second": path, "first_verdict",
/// "second_verdict"}]}
void write_judged_json(std::ostream& out, const JudgedDump& judged, const JudgeOrigin& origin);
void write_judged_json(std::ostream& out, const JudgedDump& first, const JudgedDump& second,
                       const std::vector<JudgedPair>& pairs, const JudgeOrigin& origin);

/// Writes a line of names, then a line for each judged output, and for each record without a judged
/// output. `causes` are the rules whose sentences are in the JSON.
void write_judged_csv(std::ostream& out, const std::vector<JudgedDump>& dumps);

}  // namespace opbench
