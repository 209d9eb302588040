#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "harness/report/explain_file.h"
#include "harness/run/results_file.h"
#include "tests/fuzz/fuzz.h"
#include "text/json_reader.h"

namespace opbench {
namespace {

std::string written(const ResultsFile& file) {
  std::ostringstream out;
  write_json(out, file.run, file.machine, file.command);
  return out.str();
}

// Runs `opbench explain` on it as a comparison: it prints an explanation, or an error of one line.
void explain_as_comparison(const std::string& text) {
  std::ostringstream words;
  const std::string file = "x.json";
  succeeds([&] {
    const nlohmann::ordered_json json = parse_json(text, file);
    report::explain_comparison(words, JsonValue(json, file), "", {});
  });
}

}  // namespace
}  // namespace opbench

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace opbench;
  ResultsFile file;
  const std::string text(reinterpret_cast<const char*>(data), size);
  explain_as_comparison(text);
  if (!succeeds([&] { file = parse_results(text, "x.json"); }, "x.json: ")) return 0;
  const std::string once = written(file);
  ResultsFile again;
  require(succeeds([&] { again = parse_results(once, "x.json"); }),
          "what was read can be written and read", once);
  const std::string twice = written(again);
  require(once == twice, "writing what was read gives the same text", twice);
  std::ostringstream words;
  for (const report::CaseRecords& one : report::cases_of(file)) {
    report::explain_case(words, file, one, {});
  }
  report::list_cases(words, file, {});
  return 0;
}
