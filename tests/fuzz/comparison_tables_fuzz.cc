// The YAML files of `opbench compare`: --standards and --map.
#include <cstdint>
#include <string>

#include "compare/name_map_file.h"
#include "judge/standards.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  opbench::succeeds([&] { opbench::parse_standards(text, "f.yaml"); }, "f.yaml:");
  opbench::succeeds([&] { opbench::parse_name_map(text, "f.yaml"); }, "f.yaml:");
  return 0;
}
