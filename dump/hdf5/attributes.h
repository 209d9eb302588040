#pragma once

#include <H5Cpp.h>
#include <hdf5.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dump/dump_types.h"
#include "dump/hdf5/c_api.h"
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

/// HDF5 keeps an attribute in one object header message, which holds less than 64 KiB.
inline constexpr std::size_t kLongestText = 60'000;

void write_integer(const H5::H5Object& object, const char* name, std::int32_t value);
/// One-dimensional, of as many elements as there are values, none included.
void write_integers(const H5::H5Object& object, const char* name, const Dims& values);
/// Of fixed length, at least 1, padded with NUL.
void write_text(const H5::H5Object& object, const std::string& name, const std::string& value);

/// Errors: H5::Exception if the object is damaged.
int attribute_count(hid_t object);

/// None if there is none of that name. Errors: H5::Exception if it is damaged.
std::optional<AttributeHandle> open_attribute(hid_t object, const char* name);

/// Whole numbers of any width, scalar or in one dimension; none if it holds anything else.
std::optional<Dims> read_whole_numbers(hid_t attribute);

/// One string of fixed length; none if it holds anything else, or a longer one than opbench writes.
std::optional<std::string> read_one_text(hid_t attribute);

/// All attributes that hold one string of fixed length. Errors: H5::Exception if any is damaged.
std::vector<Note> read_texts(hid_t object);

/// Those among kNoteNames. Errors: H5::Exception if any is damaged.
std::vector<Note> read_notes(hid_t object);

/// Fills in what a dataset of a file of `file_bytes` says of itself: all but name, path and side.
/// Errors: throws Error or H5::Exception with what makes it unreadable; what was found before that
/// stays in `entry`.
void describe_dataset(hid_t dataset, std::int64_t file_bytes, DumpEntry& entry);

}  // namespace opbench::hdf5
