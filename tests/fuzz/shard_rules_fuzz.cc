#include <cstdint>

#include "compare/shard_rules.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  opbench::succeeds(
      [&] {
        const opbench::ShardRules rules = opbench::parse_shard_rules(text, "f.yaml");
        opbench::require(rules.ranks.size() != 1, "one rank is no whole", "");
        opbench::DumpEntry entry;
        entry.path = "/Linear/1/input/weight";
        entry.name = "weight";
        for (const auto side : {opbench::Side::input, opbench::Side::output}) {
          entry.side = side;
          const int axis = rules.join_of(entry).axis;
          opbench::require(axis >= -32 && axis < 32, "an axis", "");
        }
      },
      "f.yaml:");
  return 0;
}
