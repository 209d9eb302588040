// dump.json of msprobe: its tensors become records, or it is refused or listed as a problem.

#include <cstdint>

#include "dump/source_listing.h"
#include "tensor/utf8.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace opbench;
  const MemoryFile file(data, size);
  succeeds(
      [&] {
        SourceListing listing;
        add_msprobe(listing, file.path(), "");
        for (const std::string& problem : listing.catalogue.problems) {
          require_one_line(printable(problem));
        }
        for (const auto& [path, place] : listing.places) {
          require(place.array_file < static_cast<int>(listing.array_files.size()),
                  "an entry lies in a file of the list, or in the text", path);
        }
      },
      file.path() + ": ");
  return 0;
}
