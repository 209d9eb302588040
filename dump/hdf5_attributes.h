#pragma once

#include <H5Cpp.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dump/dump_types.h"

namespace opbench::hdf5 {

/// HDF5 keeps an attribute in one object header message, which holds less than 64 KiB.
inline constexpr std::size_t kLongestText = 60'000;

void write_integer(const H5::H5Object& object, const char* name, std::int32_t value);
/// One-dimensional, of as many elements as there are values, none included.
void write_integers(const H5::H5Object& object, const char* name, const Dims& values);
/// Of fixed length, at least 1, padded with NUL.
void write_text(const H5::H5Object& object, const std::string& name, const std::string& value);

/// Errors of the readers: Error "attribute DataType is ..., must be ..." if it is missing (but for
/// `read_text`), has another type or another number of elements.
std::int32_t read_integer(const H5::H5Object& object, const char* name);
Dims read_integers(const H5::H5Object& object, const char* name, std::size_t count);
std::optional<std::string> read_text(const H5::H5Object& object, const char* name);

/// All attributes that hold one string of fixed length.
std::vector<Note> read_notes(const H5::H5Object& object);

/// "integer", "floating point", "string", ... for messages.
std::string name_of(H5T_class_t type_class);

}  // namespace opbench::hdf5
