#include <cstdint>
#include <sstream>

#include "profiles/ingest.h"
#include "profiles/ingest_report.h"
#include "tests/fuzz/fuzz.h"

// Any bytes as a profile: the program does not crash, and all results can be printed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  opbench::IngestResult result;
  opbench::ingest_bytes(opbench::bytes_of(text), "f.csv", result);
  const opbench::IngestedFile& file = result.files.at(0);
  opbench::require(file.skipped >= std::ssize(file.problems) || file.kind.empty(),
                   "every problem is counted", text);
  for (const std::string& problem : file.problems) {
    opbench::require_one_line(problem);
    opbench::require(problem.starts_with("f.csv:"), "the message says where", problem);
  }
  std::ostringstream out;
  const auto findings = opbench::find_remarks(result, {24, 48});
  opbench::print_ingest(out, result, {{.top = 0}, {24, 48}, findings});
  opbench::write_ingest_json(out, result, findings, "");
  opbench::write_ingest_csv(out, result);
  return 0;
}
