#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "dump/arrays/array_list.h"
#include "dump/arrays/pickle.h"
#include "dump/arrays/zip_file.h"
#include "dump/regular_file.h"

namespace opbench {

/// True for globals that a torch.save pickle may contain: functions that rebuild tensors, and the
/// types they use.
bool is_torch_name(std::string_view name);

/// Element type of "torch.FloatStorage"; `none` for any other name.
StoredType torch_storage_type(std::string_view name);

/// Location of a storage: a member of the .zip file, or an offset in the file.
struct StoragePlace {
  ArrayPlace place;
  std::int64_t bytes = 0;
};
using FindStorage = std::function<std::optional<StoragePlace>(const std::string& key)>;

/// Lists the tensors in an object by their paths. A tensor that is the object itself is called
/// `name`. An unreadable tensor gets a problem. Errors: throws Error if the object is too deep or
/// too large.
ArrayList list_tensors(const Pickle& object, const FindStorage& find, const std::string& name);

/// True if torch.save wrote this .zip file.
bool is_torch_zip(const ZipFile& zip);

/// Lists the tensors of a torch.save file by their paths in the saved object: "model/conv1.weight",
/// "0" for the first of a list; `name` for a tensor that is the object itself. No code is run.
/// Supported are the functions that rebuild tensors, parameters and NPU tensors, and dicts, lists,
/// sizes and dtypes. Errors: throws Error "{path}: pickle, byte {n}: ..." and similar.
ArrayList list_torch(ZipFile& zip, const RegularFile& file, const std::string& name);

/// Lists the tensors of a file written by PyTorch before 1.6.
ArrayList list_torch(const RegularFile& file, const std::string& name);

}  // namespace opbench
