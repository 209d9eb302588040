#include <cstdint>
#include <sstream>

#include "profiles/ingest.h"
#include "profiles/ingest_report.h"
#include "tests/fuzz/fuzz.h"

// Any bytes as the events of a Chrome trace: the program does not crash, not more events are linked
// than were read, and all results can be printed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Begins with a valid event, so that the format is always recognised.
  const std::string text =
      "[{\"ph\":\"M\"},\n" + std::string(reinterpret_cast<const char*>(data), size);
  opbench::IngestResult result;
  opbench::ingest_bytes(opbench::bytes_of(text), "f.json", result);
  const opbench::IngestedFile& file = result.files.at(0);
  const opbench::TraceProfile& trace = result.trace;
  opbench::require(file.skipped >= std::ssize(file.problems), "every problem is counted", text);
  opbench::require(trace.linked_kernels <= trace.kernels, "a kernel has one operator", text);
  opbench::require(trace.busy.computing_ps <= result.hot_spots.computing().total_ps,
                   "a union is no longer than the sum", text);
  for (const std::string& problem : file.problems) {
    opbench::require_one_line(problem);
    opbench::require(problem.starts_with("f.json:"), "the message says where", problem);
  }
  std::ostringstream out;
  const auto findings = opbench::find_remarks(result, {24, 48});
  opbench::print_ingest(out, result, {{.top = 0}, {24, 48}, findings});
  opbench::write_ingest_json(out, result, findings, "");
  opbench::write_ingest_csv(out, result);
  return 0;
}
