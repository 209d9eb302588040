#include "harness/plan/case_filter.h"

#include "text/name_pattern.h"

namespace opbench {

// Ids are searched as a whole: those of an optimiser list hundreds of shapes.
CaseFilter::CaseFilter(const std::string& pattern)
    : matches_(pattern.empty() ? nullptr : name_pattern(pattern, "--filter")) {}

bool CaseFilter::takes(const std::string& id, const std::string& name) const {
  return !matches_ || matches_(id) || matches_(name);
}

std::string pattern_of_name(std::string_view name) {
  constexpr std::string_view kSpecial = "^$\\.*+?()[]{}|";
  std::string pattern = "^";
  for (const char letter : name) {
    if (kSpecial.find(letter) != kSpecial.npos) pattern += '\\';
    pattern += letter;
  }
  return pattern + "$";
}

}  // namespace opbench
