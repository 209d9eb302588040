#include <cstdint>

#include "harness/plan/case_files.h"
#include "kernels/kernel.h"
#include "tests/fuzz/fuzz.h"

namespace opbench {
namespace {

// Steps name variants. The real variants would link every kernel.
const RegisteredKernel kRelu{{.op = "relu", .name = "native", .summary = "", .prepare = nullptr}};

// Small limits, so that an input that unrolls to them takes milliseconds.
constexpr ContextLimits kLimits{.nodes = 300, .bytes = 1 << 20};

}  // namespace
}  // namespace opbench

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const opbench::Symbols& overrides : {opbench::Symbols{}, opbench::Symbols{{"N", 3}}}) {
    opbench::succeeds(
        [&] { opbench::parse_case_file(text, "f.yaml", overrides, opbench::kLimits); }, "f.yaml:");
  }
  return 0;
}
