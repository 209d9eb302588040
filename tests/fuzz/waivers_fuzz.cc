#include <cstdint>

#include "harness/check/waivers.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  opbench::succeeds(
      [&] {
        for (const opbench::check::Waiver& waiver : opbench::check::parse_waivers(text, "f.yaml")) {
          waiver.matches("softplus[8,64,fp32]");
          opbench::require(waiver.expires.size() == 10, "a waiver has a day", waiver.expires);
        }
      },
      "f.yaml:");
  return 0;
}
