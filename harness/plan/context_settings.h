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

/// Settings that a context states and a step may change.
struct ContextSettings {
  std::map<std::string, std::vector<std::string>> variants;
  FrameworkRules rules;
  Precision precision;
  ContextStandard standard;
  PublishedTime published;                     ///< the source is the context's, the time a step's
  SymbolValue samples = {"samples", "1", ""};  ///< evaluated with the step's symbols
  // The following two are settings of steps only.
  Symbols set;                                ///< values of symbols of the file
  std::map<std::string, std::string> blocks;  ///< includes of the key become includes of the value
};

/// Keys of a context that `read_setting` takes. A step has "set" and "blocks" in addition.
inline const std::vector<std::string> kSettingKeys = {"variants", "rules",   "precision",
                                                      "standard", "samples", "published"};

/// A rule of `rules:` and its allowed words: "false" and "true", or words of its own.
struct RuleWords {
  std::string_view name;
  std::vector<std::string_view> words;
  /// Sets the rule to the word of that index.
  void (*set)(FrameworkRules& rules, std::size_t word);
  /// Index of the word that the rule is set to.
  std::size_t (*get)(const FrameworkRules& rules);
};

/// All rules, in the order of the documentation.
std::span<const RuleWords> rule_words();

/// Reads one of the keys of kSettingKeys into `settings`. It replaces stated values only: variants
/// by operator, rules by rule, `published` by field, the others as a whole. Other keys are ignored.
/// Errors: throws Error "file:line: ..." on unknown operators, variants and rules, and values of
/// another type or out of range.
void read_setting(const std::string& key, const YamlValue& value, ContextSettings& settings);

}  // namespace opbench
