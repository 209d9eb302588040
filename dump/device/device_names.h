#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dump/dump_types.h"
#include "tensor/dtype.h"
#include "tensor/format.h"

namespace opbench {

/// How the elements of a device dump's tensor are stored, by CANN's number (data_type of
/// DumpData). UNDEFINED is read as int8, as msaccucmp does. Errors: throws Error
/// "data_type: found 13 (STRING); allowed are ..." for what holds no numbers.
StoredType device_stored_type(std::int64_t data_type);

/// CANN's number (data_type of DumpData) for what is stored so.
std::int64_t device_data_type(DType dtype);

/// "NC1HWC0", "FRACTAL_ZZ": the name of a format by CANN's number, "FORMAT_99" for one without.
std::string device_format_name(std::int64_t format);

/// CANN's number of a format by its name. Errors: throws Error that lists the names.
std::int64_t device_format_number(std::string_view name);

/// The format that conversions know by that number; none if they know it not.
std::optional<Format> device_format(std::int64_t format);

/// Is this what a device calls a dump: {op_type}.{op_name}.{task}[.{stream}].{timestamp}, perhaps
/// with [.{task_type}.{context}.{thread}.{device}] behind?
bool is_device_dump_name(std::string_view name);

/// MindSpore's name of a dump: "Conv2D.scope_op.3.7.16" with the operator "scope/op" is
/// "Conv2D.op.3.7.16". Names of other than five parts stay as they are.
std::string short_dump_name(std::string_view name, std::string_view op_name);

/// Names that were too long for a file, by the file's name: the lines "number,name" of mapping.csv.
using NameMapping = std::map<std::string, std::string>;

/// The mapping.csv of a directory; empty where there is none. Errors: throws Error
/// "{file}:{line}: ..." for a line without comma, or a name with '/'.
NameMapping read_name_mapping(const std::filesystem::path& directory);

/// Adds to the mapping.csv of a directory what it has not yet. Errors: as above, and RunError if it
/// cannot be written.
void add_to_name_mapping(const std::filesystem::path& directory, const NameMapping& added);

/// A file name for `name`: itself, or where it has 255 bytes or more, 32 digits made from it and
/// its suffix.
std::string fitting_file_name(const std::string& name);

}  // namespace opbench
