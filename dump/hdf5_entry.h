#pragma once

#include <H5Cpp.h>

#include <cstdint>

#include "dump/dump_types.h"
#include "dump/hdf5_layout.h"

namespace opbench::hdf5 {

/// Fills in what the dataset says of itself: kind, desc, device, format, stride, warning.
/// Errors: throws Error or H5::Exception with what makes the dataset unreadable; what was found
/// before that stays in `entry`.
void describe_dataset(const H5::DataSet& dataset, std::int64_t file_bytes, DumpEntry& entry);

/// The type to read a dataset's elements with, so that those of `dtype` come as `StoredType` says.
/// Errors: throws Error if the dataset's type does not fit.
const H5::PredType& type_to_read(const H5::DataSet& dataset, DType dtype);

/// Extents; none for a scalar. Errors: throws Error if there is no data space or it is too large.
Dims shape_of(const H5::DataSet& dataset);

}  // namespace opbench::hdf5
