#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>

#include "dump/dump_types.h"

namespace opbench::hdf5 {

/// Elements as a dataset stores them.
struct StoredElements {
  StoredType type = StoredType::none;
  std::string name;        ///< as numpy spells it, or what it is: "string"
  bool is_native = false;  ///< the bytes in the file are those in memory
};

/// What an HDF5 type is here; `none` if it is no number. `type` is a datatype's identifier.
StoredElements stored_elements(hid_t type);

/// True if the data is made of other datasets, wherever they are.
bool is_virtual(hid_t dataset);

/// Extents; none for a scalar. Errors: throws Error if there are none or too large ones.
Dims extents_of(hid_t dataset);

/// Bytes of a chunk; 0 if the data is not in chunks.
/// Errors: throws Error if they are too many to be held in memory.
std::size_t chunk_bytes(hid_t dataset);

/// Where `elements` elements of `bytes` each lie in the file, if they lie there in one piece; else
/// -1. Errors: throws Error if the data is not all in a file of `file_bytes`, or would take absurd
/// memory to read.
std::int64_t place_of(hid_t dataset, std::int64_t elements, std::size_t bytes,
                      std::int64_t file_bytes);

}  // namespace opbench::hdf5
