#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>

#include "dump/dump_types.h"

namespace opbench::hdf5 {

/// Stored type of a dataset's elements.
struct StoredElements {
  StoredType type = StoredType::none;
  std::string name;        ///< numpy's name, or the type class: "string"
  bool is_native = false;  ///< the bytes in the file equal those in memory
};

/// Maps an HDF5 datatype; `none` if it is not numeric. `type` is its identifier.
StoredElements stored_elements(hid_t type);

/// True if the data consists of other datasets, in any file.
bool is_virtual(hid_t dataset);

/// Returns the extents; empty for a scalar. Errors: throws Error if they are missing or too large.
Dims extents_of(hid_t dataset);

/// Returns the bytes of a chunk; 0 for data without chunks. Errors: throws Error if a chunk is too
/// large for memory.
std::size_t chunk_bytes(hid_t dataset);

/// Returns the offset in the file of `elements` elements of `bytes` each, if they are contiguous;
/// else -1. Errors: throws Error if the data exceeds a file of `file_bytes`, or if reading it would
/// need far more memory than the file has bytes.
std::int64_t place_of(hid_t dataset, std::int64_t elements, std::size_t bytes,
                      std::int64_t file_bytes);

}  // namespace opbench::hdf5
