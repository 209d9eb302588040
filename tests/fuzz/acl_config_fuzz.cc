// acl.json, which configures dumps of a device.

#include <cstdint>

#include "dump/device/acl_config.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace opbench;
  const MemoryFile file(data, size);
  succeeds(
      [&] {
        const AclConfig config = read_acl_config(file.path());
        require(!config.path.empty(), "a configuration has a folder", "");
        for (const AclModel& model : config.models) {
          require(model.layers.empty() || !model.name.empty(), "layers are of a model", "");
        }
        succeeds([&] { require_dumped(config, true, {"model"}); }, file.path() + ": ");
      },
      file.path() + ": ");
  return 0;
}
