// Lines of parts, written by other machines or left by a killed process.
#include <cstdint>
#include <sstream>
#include <string>

#include "harness/run/part_file.h"
#include "tests/fuzz/fuzz.h"

namespace opbench::units {
namespace {

// Writes the parsed lines again.
std::string written(const std::string& text) {
  std::string lines;
  PartReader reader;
  reader.header = [&](const PartHeader& header, std::size_t) { lines += header_line(header); };
  reader.unit = [&](const PartHeader& header, const UnitResult& result, std::size_t) {
    require(result.unit < header.units, "a unit is one of the plan", result.id);
    lines += unit_line(result);
  };
  std::istringstream in(text);
  read_part(in, "p.jsonl", reader);
  return lines;
}

}  // namespace
}  // namespace opbench::units

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace opbench;
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::string once, twice;
  if (!succeeds([&] { once = units::written(text); }, "p.jsonl:")) return 0;
  require(succeeds([&] { twice = units::written(once); }), "what was read can be read again", once);
  require(once == twice, "writing what was read gives the same text", twice);
  return 0;
}
