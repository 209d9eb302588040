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

/// Is this .zip file what torch.save writes?
bool is_torch_zip(const ZipFile& zip);

/// The tensors of what torch.save wrote, by their places in the saved object: "model/conv1.weight",
/// "0" for the first of a list; `name` for a tensor that is the object itself. Nothing is run: only
/// what rebuilds tensors, parameters and NPU tensors, dicts, lists, sizes and dtypes is understood.
/// Errors: throws Error "{path}: pickle, byte {n}: ..." and the like.
ArrayList list_torch(ZipFile& zip, const RegularFile& file, const std::string& name);

/// The same of files as PyTorch before 1.6 wrote them.
ArrayList list_torch(const RegularFile& file, const std::string& name);

}  // namespace opbench
