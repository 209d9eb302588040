#pragma once

#include <iosfwd>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "judge/evidence.h"

namespace opbench {

class JsonValue;

/// A frequent reason for a tensor's errors.
struct Cause {
  std::string rule;  ///< "scale"
  std::string text;  ///< a sentence, without a full stop
};

/// The range that a number of the evidence must be in.
struct EvidenceRange {
  std::optional<double> least, most;
};

/// A rule of judge/causes.yaml.
struct CauseRule {
  std::string name, group;
  std::map<std::string, EvidenceRange> when;
  std::string says;
};

/// The rules that are part of the program.
const std::vector<CauseRule>& builtin_causes();

/// Parses rules from text; messages begin with `path`. Errors: throws Error "file:line: ..." for
/// unknown members, and for a rule without a name, a condition or a sentence.
std::vector<CauseRule> parse_causes(const std::string& text, const std::string& path);

/// The first rule of each group that holds; empty if no typical pattern is found.
std::vector<Cause> causes_of(const DepartureEvidence& evidence,
                             const std::vector<CauseRule>& rules);

/// The causes that built-in rules find for a wrong tensor.
std::vector<Cause> find_causes(const DepartedValues& values);

/// Text for reports: "Looks like: every wrong value is 0.5 times what is expected: ...".
std::string looks_like(const Cause& cause);

/// Prints that of each of the `causes` of an output in JSON.
void say_causes(std::ostream& out, const JsonValue& output, std::size_t indent);

/// For tables, only the rules: "tail; zero". Empty without causes.
std::string causes_cell(const std::vector<Cause>& causes);

/// [{"rule", "text"}], empty without causes.
nlohmann::ordered_json causes_value(const std::vector<Cause>& causes);

}  // namespace opbench
