#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/plan/case_values.h"
#include "harness/plan/context.h"
#include "harness/plan/context_template.h"

namespace opbench {

/// What a context states and a step may change.
struct ContextSettings {
  std::map<std::string, std::vector<std::string>> variants;
  FrameworkRules rules;
  Precision precision;
  ContextStandard standard;
  SymbolValue samples = {"samples", "1", ""};  ///< seen with the step's symbols
  // Of steps only.
  Symbols set;                                ///< values of symbols of the file
  std::map<std::string, std::string> blocks;  ///< includes of the first are of the second
};

/// The keys that `read_setting` knows in a context; in a step also "set" and "blocks".
inline const std::vector<std::string> kSettingKeys = {"variants", "rules", "precision", "standard",
                                                      "samples"};

/// A rule of `rules:` and the words that it may be set to: "false" and "true", or its own.
struct RuleWords {
  std::string_view name;
  std::vector<std::string_view> words;
  /// Sets the rule to word number `word`.
  void (*set)(FrameworkRules& rules, std::size_t word);
  /// The number of the word that it is set to.
  std::size_t (*get)(const FrameworkRules& rules);
};

/// All rules, in the order of the documentation.
std::span<const RuleWords> rule_words();

/// Reads one of `variants`, `rules`, `precision`, `standard`, `samples` into `settings`, of which
/// it replaces what is stated: variants by operator, rules one by one, the others as a whole. Other
/// keys are left alone. Errors: throws Error "file:line: ..." on unknown operators, variants and
/// rules, and values of another kind or out of range.
void read_setting(const std::string& key, const YamlValue& value, ContextSettings& settings);

}  // namespace opbench
