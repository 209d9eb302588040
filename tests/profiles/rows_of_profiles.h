#pragma once

#include <string>
#include <vector>

#include "profiles/network_cases.h"
#include "tests/profiles/profiles.h"

namespace opbench {

inline constexpr const char* kRowHeader =
    "Name,Type,Accelerator Core,Duration(us),Input Shapes,Input Data Types,Input Formats,"
    "Output Shapes,Output Data Types,Output Formats\n";

inline NetworkCases cases_in(const IngestResult& profile) { return cases_of(profile); }

inline NetworkCases cases_of_rows(const std::string& rows) {
  return cases_in(ingest_text(kRowHeader + rows));
}

inline std::string row(const std::string& type, const std::string& inputs,
                       const std::string& outputs) {
  return "n," + type + ",AI_CORE,1.5," + inputs + ',' + outputs + '\n';
}

inline std::vector<std::string> ids(const NetworkCases& cases) {
  std::vector<std::string> all;
  for (const NetworkCase& one : cases.cases) all.push_back(case_key(one.spec));
  return all;
}

}  // namespace opbench
