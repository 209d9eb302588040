// make_dumps DIRECTORY CASE: writes npu.h5 and gpu.h5, which differ slightly.
//   large  200 operators of 1,000,000 fp32 elements
//   failing like large, with differences of up to 2^-4: all fail
//   reordered like failing, the NPU's operators in reverse order: all fail
//   single one tensor of 100,000,000 fp32 elements
//   tiny   40,000 operators of 4 fp32 elements
//   seven  seven tensors of 1,000 fp32 elements
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "dump/dump_writer.h"
#include "tensor/tensor.h"

namespace opbench {
namespace {

struct Case {
  std::string_view name;
  int operators;
  std::int64_t elements;
  float apart = 0x1p-12f;  // relative difference
  bool is_reversed = false;
};

constexpr Case kCases[] = {{"large", 200, 1'000'000},
                           {"failing", 200, 1'000'000, 0x1p-4f},
                           {"reordered", 200, 1'000'000, 0x1p-12f, true},
                           {"single", 1, 100'000'000},
                           {"tiny", 40'000, 4},
                           {"seven", 7, 1000}};

// Values between -1 and 1. Values of the NPU differ by up to `apart` relatively.
void fill(std::vector<float>& values, std::uint64_t seed, float apart) {
  std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (float& value : values) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    const float base = static_cast<float>(static_cast<std::int32_t>(state)) * 0x1p-31f;
    const float noise = static_cast<float>(static_cast<std::int32_t>(state >> 32)) * 0x1p-31f;
    value = base * (1 + apart * noise);
  }
}

void write(const std::filesystem::path& path, const Case& made, DeviceType device) {
  constexpr int kNames = 40;
  DumpWriter writer(path);
  std::vector<float> values(static_cast<std::size_t>(made.elements));
  for (int i = 0; i < made.operators; ++i) {
    writer.begin_record("Op" + std::to_string(i % kNames), device);
    const bool is_npu = device == DeviceType::npu;
    fill(values, static_cast<std::uint64_t>(i), is_npu ? made.apart : 0);
    if (is_npu && made.is_reversed) std::reverse(values.begin(), values.end());
    writer.write_output("result", describe(DType::fp32, {made.elements}), values.data());
  }
  writer.finish();
}

int run(const std::filesystem::path& directory, std::string_view name) {
  for (const Case& made : kCases) {
    if (made.name != name) continue;
    write(directory / "npu.h5", made, DeviceType::npu);
    write(directory / "gpu.h5", made, DeviceType::cuda);
    return 0;
  }
  std::fprintf(
      stderr,
      "make_dumps: unknown case '%s'; allowed are large failing reordered single tiny seven\n",
      std::string(name).c_str());
  return 2;
}

}  // namespace
}  // namespace opbench

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: make_dumps DIRECTORY large|failing|reordered|single|tiny|seven\n");
    return 2;
  }
  try {
    return opbench::run(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_dumps: %s\n", error.what());
    return 3;
  }
}
