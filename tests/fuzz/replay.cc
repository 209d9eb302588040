#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

void replay(const std::vector<char>& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

std::vector<char> read_whole(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Replays a seed unchanged, cut at its half, and with a changed byte in its middle.
void replay_variations(std::vector<char> bytes) {
  replay(bytes);
  const std::size_t half = bytes.size() / 2;
  replay({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(half)});
  if (!bytes.empty()) bytes[half] = static_cast<char>(bytes[half] ^ 0x80);
  replay(bytes);
}

}  // namespace

/// main without libFuzzer: reads each file of the given folders once, and an empty input.
int main(int argc, char** argv) {
  int seeds = 0;
  replay({});
  for (int i = 1; i < argc; ++i) {
    if (!fs::is_directory(argv[i])) continue;
    std::vector<fs::path> files(fs::directory_iterator{argv[i]}, {});
    std::ranges::sort(files);
    for (const fs::path& path : files) {
      replay_variations(read_whole(path));
      ++seeds;
    }
  }
  std::printf("%d seeds\n", seeds);
  return 0;
}
