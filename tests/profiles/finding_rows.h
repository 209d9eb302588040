#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "profiles/finding_rules.h"
#include "tests/profiles/profiles.h"

namespace opbench {

inline constexpr const char* kNoStarts =
    "Name,Type,Accelerator Core,Duration(us),Input Data Types\n";
inline constexpr const char* kStarts = "Name,Type,Accelerator Core,Start Time(us),Duration(us)\n";

inline std::string task_row(const std::string& type, double us, const std::string& core = "AI_CORE",
                            const std::string& dtypes = "FLOAT") {
  return fmt::format("{0},{0},{1},{2},{3}\n", type, core, us, dtypes);
}

template <class Rule>
std::vector<Finding> found_by(Rule rule, const IngestResult& profile) {
  std::vector<Finding> found;
  rule(ProfileView(profile), found);
  return found;
}

}  // namespace opbench
