// A catalogue from the reading process, whose memory a damaged file may have overwritten: no bytes
// outside of the file are read. The first 8 bytes of an input are the file's size.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "dump/catalogue.h"
#include "dump/strided_read.h"
#include "tests/fuzz/fuzz.h"

namespace opbench {
namespace {

constexpr std::int64_t kMostElements = 1 << 12;

void check_entry(const DumpEntry& entry, std::int64_t file_bytes) {
  if (!entry.problem.empty()) return;
  const std::int64_t elements = entry.desc.elements();
  const auto bytes = static_cast<std::int64_t>(size_of(entry.stored));
  require(bytes > 0, "an entry that can be read has a type", entry.path);
  require(entry.offset < 0 ||
              (entry.offset <= file_bytes && elements <= (file_bytes - entry.offset) / bytes),
          "the data is inside the file", entry.path);
  if (!entry.is_strided) return;
  const ElementRange range{elements / 2, std::min(elements - elements / 2, kMostElements)};
  std::vector<std::byte> to(static_cast<std::size_t>(range.count * bytes));
  read_strided(
      entry.desc.shape, *entry.attributes.stride, range, static_cast<std::size_t>(bytes),
      [&](ElementRange places, void* piece) {
        require(places.first >= 0 && places.count > 0 && places.count <= elements &&
                    places.first <= elements - places.count,
                "places are inside the data", entry.path);
        std::memset(piece, 0, static_cast<std::size_t>(places.count * bytes));
      },
      to.data());
}

void check_list(std::string_view bytes, std::int64_t file_bytes) {
  const Catalogue catalogue = decode_catalogue(bytes, file_bytes);
  for (const DumpRecord& record : catalogue.records) {
    for (const DumpEntry& entry : record.entries) check_entry(entry, file_bytes);
  }
  for (const DumpEntry& entry : catalogue.strays) check_entry(entry, file_bytes);
  const std::string again = encode(catalogue);
  require(encode(decode_catalogue(again, file_bytes)) == again, "a list comes back the same", "");
}

}  // namespace
}  // namespace opbench

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::int64_t file_bytes = 0;
  if (size < sizeof file_bytes) return 0;
  std::memcpy(&file_bytes, data, sizeof file_bytes);
  const std::string_view bytes(reinterpret_cast<const char*>(data) + sizeof file_bytes,
                               size - sizeof file_bytes);
  opbench::succeeds([&] { opbench::check_list(bytes, file_bytes); });
  return 0;
}
