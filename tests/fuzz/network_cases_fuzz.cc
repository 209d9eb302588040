#include <cstdint>
#include <sstream>

#include "harness/plan/case_files.h"
#include "profiles/network_cases.h"
#include "tests/fuzz/fuzz.h"

// Any bytes as a profile or a log: the resulting cases can be read and run.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  opbench::IngestResult profile;
  opbench::ingest_bytes(opbench::bytes_of(text), "f.csv", profile);
  const opbench::NetworkCases cases = opbench::cases_of(profile);
  std::ostringstream printed, written;
  opbench::print_network_cases(printed, cases, {.top = 0});
  opbench::write_case_file(written, cases, profile.files);
  const opbench::CaseFile file = opbench::parse_case_file(written.str(), "it.yaml", {});
  opbench::require(file.cases.size() == cases.cases.size(), "every case is read", written.str());
  for (std::size_t i = 0; i < file.cases.size(); ++i) {
    opbench::Case read = file.cases[i].base;
    read.dtype = file.cases[i].dtypes->front();
    read.format = file.cases[i].formats->front();
    opbench::require(case_id(read) == case_id(cases.cases[i].spec), "a case is read as it was",
                     case_id(read));
    problem_of(read);
  }
  return 0;
}
