#include <cstdint>
#include <sstream>
#include <string>

#include "harness/record/results_file.h"
#include "harness/report/report.h"
#include "tests/fuzz/fuzz.h"

namespace opbench {
namespace {

std::string written(const ResultsFile& file) {
  std::ostringstream out;
  write_json(out, file.run, file.machine, file.command);
  return out.str();
}

}  // namespace
}  // namespace opbench

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace opbench;
  ResultsFile file;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (!succeeds([&] { file = parse_results(text, "x.json"); }, "x.json: ")) return 0;
  const std::string once = written(file);
  ResultsFile again;
  require(succeeds([&] { again = parse_results(once, "x.json"); }),
          "what was read can be written and read", once);
  const std::string twice = written(again);
  require(once == twice, "writing what was read gives the same text", twice);
  return 0;
}
