// libhdf5 has faults of its own on damaged files: it asks for absurd sizes, leaks and, rarely,
// crashes. -fork=1 -ignore_crashes=1 goes on after these; only a crash with a frame of opbench on
// top is ours.

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <vector>

#include "dump/dump_reader.h"
#include "tests/fuzz/fuzz.h"

// libhdf5 is not compiled with the sanitizer: what it copies, leaks and asks for is left to its
// authors.
extern "C" const char* __asan_default_suppressions() { return "interceptor_via_lib:libhdf5\n"; }
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1:detect_leaks=0";
}

namespace opbench {
namespace {

constexpr std::int64_t kMostElements = 1 << 20;

void read_entry(DumpReader& reader, const DumpEntry& entry) {
  require_one_line(entry.problem);
  require_one_line(entry.warning);
  if (entry.problem.empty() && entry.desc.elements() > kMostElements) return;
  const std::int64_t count = entry.problem.empty() ? entry.desc.elements() : 1;
  std::vector<std::byte> elements(static_cast<std::size_t>(count) * size_of(entry.desc.dtype));
  const bool is_read = succeeds([&] { reader.read(entry, {0, count}, elements.data()); });
  require(!is_read || entry.problem.empty(), "an entry with a problem is not read", entry.path);
}

void read_dump(const std::string& path) {
  DumpReader reader(path);
  for (const std::string& problem : reader.problems()) require_one_line(problem);
  for (const DumpRecord& record : reader.records()) {
    for (const DumpEntry& entry : record.inputs) read_entry(reader, entry);
    for (const DumpEntry& entry : record.outputs) read_entry(reader, entry);
  }
}

}  // namespace
}  // namespace opbench

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace fs = std::filesystem;
  static const std::string path =
      (fs::temp_directory_path() / ("dump_reader_fuzz." + std::to_string(getpid()))).string();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  opbench::succeeds([] { opbench::read_dump(path); });
  fs::remove(path);
  return 0;
}
