#pragma once

#include <H5Cpp.h>

#include <cstdint>
#include <span>
#include <string>

#include "dump/dump_types.h"
#include "dump/hdf5/layout.h"

namespace opbench::hdf5 {

/// Errors: throws Error if tensors of this description cannot be dumped.
void check_dumpable(const TensorDesc& desc);

/// Creates the dataset of a tensor: type, extents, attributes and data. `storage` is laid out as
/// `desc` says. Compressed, it lies in chunks of some MiB. Errors: H5::Exception.
H5::DataSet write_tensor(const H5::Group& group, const std::string& name, const TensorDesc& desc,
                         DeviceType device, const void* storage, bool is_compressed = false);

/// Creates a dataset in one dimension that other readers pass over as no tensor, compressed; values
/// are of memory_type(stored). Errors: H5::Exception.
H5::DataSet write_attachment(const H5::Group& group, const std::string& name, StoredType stored,
                             std::size_t count, const void* values);

/// Creates the dataset of a Scalar; `value` is of memory_type(stored).
H5::DataSet write_scalar(const H5::Group& group, const std::string& name, StoredType stored,
                         const void* value);

/// Creates the dataset of an IntArrayRef.
H5::DataSet write_list(const H5::Group& group, const std::string& name,
                       std::span<const std::int64_t> values);

}  // namespace opbench::hdf5
