#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "dump/arrays/array_list.h"
#include "dump/arrays/pickle.h"

namespace opbench {

/// May a pickle of torch.save hold this global? Those that rebuild tensors, and what they consist
/// of.
bool is_torch_name(std::string_view name);

/// The elements of "torch.FloatStorage"; `none` for any other name.
StoredType torch_storage_type(std::string_view name);

/// Where a storage lies: member of the .zip file or place in the file.
struct StoragePlace {
  ArrayPlace place;
  std::int64_t bytes = 0;
};
using FindStorage = std::function<std::optional<StoragePlace>(const std::string& key)>;

/// The tensors in an object by their places, `name` for one that is the object itself. What is
/// wrong with one is its problem. Errors: throws Error if the object is too deep or too large.
ArrayList list_tensors(const Pickle& object, const FindStorage& find, const std::string& name);

}  // namespace opbench
