#include <cstdint>

#include "harness/case_file.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const opbench::Symbols& overrides : {opbench::Symbols{}, opbench::Symbols{{"N", 3}}}) {
    opbench::succeeds([&] { opbench::parse_case_file(text, "f.yaml", overrides); }, "f.yaml:");
  }
  return 0;
}
