// .npy, .npz and .pt files: no bytes outside of a file are read, and every array that is listed
// without a problem is read or refused with a message.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "dump/arrays/array_file.h"
#include "tensor/utf8.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_file.h"

namespace opbench {
namespace {

constexpr std::int64_t kMostElements = 1 << 12;

void read_all(const std::string& path) {
  ArrayFile file(path);
  for (const std::string& problem : file.problems()) require_one_line(printable(problem));
  for (const DumpEntry& entry : file.entries()) {
    if (!entry.problem.empty()) {
      require_one_line(printable(entry.problem));
      continue;
    }
    const std::int64_t elements = entry.desc.elements();
    require(size_of(entry.stored) > 0, "an entry that can be read has a type", entry.path);
    std::vector<std::byte> to(static_cast<std::size_t>(std::min(elements, kMostElements)) *
                              size_of(entry.stored));
    const std::int64_t count = std::min(elements, kMostElements);
    for (const std::int64_t first : {std::int64_t{0}, elements - count}) {
      succeeds([&] { file.read(entry, {first, count}, to.data()); });
    }
  }
}

}  // namespace
}  // namespace opbench

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const opbench::MemoryFile file(data, size);
  opbench::succeeds([&] { opbench::read_all(file.path()); });
  return 0;
}
