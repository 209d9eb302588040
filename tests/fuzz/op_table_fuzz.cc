// Rows that a user adds to the table of operators with --map.

#include <cstdint>

#include "ops/op_table.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace opbench;
  const std::string text(reinterpret_cast<const char*>(data), size);
  succeeds(
      [&] {
        const OpTable table = OpTable::parse(text, "f.yaml");
        for (const OpRow& row : table.rows()) {
          for (const std::string& name : row.names) {
            require(!table.find(name).empty(), "a row is found by its names", name);
          }
        }
      },
      "f.yaml:");
  return 0;
}
