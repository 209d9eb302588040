#pragma once

#include "dump/arrays/array_list.h"
#include "dump/arrays/zip_file.h"
#include "dump/regular_file.h"

namespace opbench {

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
