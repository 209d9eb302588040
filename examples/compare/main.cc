// Compares one buffer with another: a running sum in fp32 with the running sum in fp64.
#include <opbench/compare.h>

#include <cstdio>
#include <vector>

int main() {
  const std::vector<std::int64_t> shape = {1024, 1024};
  std::vector<float> actual, expected;
  float narrow = 0;
  double wide = 0;
  for (int i = 0; i < 1024 * 1024; ++i) {
    actual.push_back(narrow += 0.1F);
    expected.push_back(static_cast<float>(wide += 0.1F));
  }
  for (const char* standard : {"mixed", "cosine"}) {
    const opbench::BufferComparison result = opbench::compare_buffers(
        opbench::DType::fp32, shape, actual.data(), expected.data(), standard);
    const bool failed = result.verdict == opbench::BufferComparison::Verdict::failed;
    std::printf("%s: %s, max ULP %.0f, largest relative error %.2g%s%s\n", standard,
                failed ? "failed" : "passed", result.max_ulp, result.max_rel,
                result.reason.empty() ? "" : "; ", result.reason.c_str());
  }
}
