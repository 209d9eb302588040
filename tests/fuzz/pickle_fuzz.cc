// The machine that reads pickles without running them. Values must reference values, and names must
// be allowed.

#include <cstdint>
#include <cstring>

#include "dump/arrays/pickle.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace opbench;
  const ReadBytes read = [&](std::int64_t offset, std::size_t count, void* to) {
    require(offset >= 0 && static_cast<std::size_t>(offset) <= size &&
                count <= size - static_cast<std::size_t>(offset),
            "only the pickle is read", std::to_string(offset));
    std::memcpy(to, data + offset, count);
  };
  const auto is_allowed = [](std::string_view name) { return name.starts_with("torch."); };
  succeeds(
      [&] {
        const Pickle pickle = read_pickle(read, 0, static_cast<std::int64_t>(size), is_allowed);
        const auto is_value = [&](int index) {
          return index >= 0 && static_cast<std::size_t>(index) < pickle.values.size();
        };
        require(is_value(pickle.root), "the object is a value", std::to_string(pickle.root));
        for (const PickleValue& value : pickle.values) {
          for (const int item : value.items) {
            require(is_value(item), "an item is a value", std::to_string(item));
          }
          if (value.kind != PickleKind::global) continue;
          require(is_allowed(value.text), "only allowed names are kept", value.text);
        }
      },
      "pickle, byte ");
  return 0;
}
