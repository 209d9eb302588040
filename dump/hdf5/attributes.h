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

/// Creates the dataset of a tensor: type, extents, attributes and data. The layout of `storage` is
/// `desc`. A compressed dataset has chunks of about 1 MiB. Errors: H5::Exception.
H5::DataSet write_tensor(const H5::Group& group, const std::string& name, const TensorDesc& desc,
                         DeviceType device, const void* storage, bool is_compressed = false);

/// Creates a compressed one-dimensional dataset that other readers skip because it is not a tensor.
/// Values have memory_type(stored). Errors: H5::Exception.
H5::DataSet write_attachment(const H5::Group& group, const std::string& name, StoredType stored,
                             std::size_t count, const void* values);

/// Creates the dataset of a Scalar. `value` has memory_type(stored).
H5::DataSet write_scalar(const H5::Group& group, const std::string& name, StoredType stored,
                         const void* value);

/// Creates the dataset of an IntArrayRef.
H5::DataSet write_list(const H5::Group& group, const std::string& name,
                       std::span<const std::int64_t> values);

/// HDF5 keeps an attribute in one object header message, which holds less than 64 KiB.
inline constexpr std::size_t kLongestText = 60'000;

void write_integer(const H5::H5Object& object, const char* name, std::int32_t value);
/// Writes a one-dimensional attribute with as many elements as values, possibly zero.
void write_integers(const H5::H5Object& object, const char* name, const Dims& values);
/// Writes a string of fixed length, at least 1, padded with NUL.
void write_text(const H5::H5Object& object, const std::string& name, const std::string& value);

/// Errors: H5::Exception if the object is damaged.
int attribute_count(hid_t object);

/// Returns empty if the attribute does not exist. Errors: H5::Exception if it is damaged.
std::optional<AttributeHandle> open_attribute(hid_t object, const char* name);

/// Reads integers of any width, scalar or one-dimensional; empty for other types.
std::optional<Dims> read_whole_numbers(hid_t attribute);

/// Reads one string of fixed length; empty for other types and for strings above kLongestText.
std::optional<std::string> read_one_text(hid_t attribute);

/// Returns all attributes that hold one string of fixed length. Errors: H5::Exception if any is
/// damaged.
std::vector<Note> read_texts(hid_t object);

/// Returns the attributes in kNoteNames. Errors: H5::Exception if any is damaged.
std::vector<Note> read_notes(hid_t object);

/// Fills in the properties of a dataset, in a file of `file_bytes`: all members but name, path and
/// side. Errors: throws Error or H5::Exception with the reason why it is unreadable. `entry` then
/// keeps the properties found before.
void describe_dataset(hid_t dataset, std::int64_t file_bytes, DumpEntry& entry);

}  // namespace opbench::hdf5
