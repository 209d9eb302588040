#pragma once

#include "dump/arrays/array_list.h"
#include "dump/arrays/zip_file.h"
#include "dump/regular_file.h"

namespace opbench {

/// The array of a .npy file. Errors: throws Error as `read_npy_header`, after the file's name.
ArrayList list_npy(const RegularFile& file);

/// The arrays of a .npz file. A member that is none, or a damaged one, is a problem of its own.
ArrayList list_npz(ZipFile& zip);

}  // namespace opbench
