#pragma once

#include <H5Cpp.h>

#include <cstdint>
#include <functional>

#include "tensor/elements.h"

namespace opbench::hdf5 {

/// Errors: throws Error unless all of the dataset's data is in its own file: no external files, no
/// virtual dataset, no extents beyond what the file holds, no chunks that memory could not.
void check_data_is_inside(const H5::DataSet& dataset, std::int64_t elements,
                          std::int64_t file_bytes);

/// True if the strides are those of a dense row-major tensor whose axes were permuted.
bool is_permuted_dense(const Dims& shape, const Dims& strides);

/// Reads elements [range) in the logical order of `shape` of data that lies in storage order:
/// `read` gives elements by their place in storage, `element_bytes` each. Memory: a few MiB.
void read_permuted(const Dims& shape, const Dims& strides, ElementRange range,
                   std::size_t element_bytes,
                   const std::function<void(ElementRange stored, void* to)>& read, void* to);

}  // namespace opbench::hdf5
