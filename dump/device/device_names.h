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

/// Stored type of a device dump's tensor, by CANN's number (data_type of DumpData). UNDEFINED is
/// read as int8, like msaccucmp. Errors: throws Error "data_type: found 13 (STRING); allowed are
/// ..." for types without numbers.
StoredType device_stored_type(std::int64_t data_type);

/// CANN's number (data_type of DumpData) of a dtype.
std::int64_t device_data_type(DType dtype);

/// Name of a format by CANN's number: "NC1HWC0", "FRACTAL_ZZ"; "FORMAT_99" for an unknown one.
std::string device_format_name(std::int64_t format);

/// CANN's number of a format by its name. Errors: throws Error that lists the names.
std::int64_t device_format_number(std::string_view name);

/// The format with CANN's number; empty if conversions do not support it.
std::optional<Format> device_format(std::int64_t format);

/// True for a device dump's name: {op_type}.{op_name}.{task}[.{stream}].{timestamp}, optionally
/// followed by .{task_type}.{context}.{thread}.{device}.
bool is_device_dump_name(std::string_view name);

/// MindSpore's name of a dump: "Conv2D.scope_op.3.7.16" with the operator "scope/op" becomes
/// "Conv2D.op.3.7.16". Names that do not have five parts are unchanged.
std::string short_dump_name(std::string_view name, std::string_view op_name);

/// Original names of dumps whose names exceeded the limit, by file name: the lines "number,name" of
/// mapping.csv.
using NameMapping = std::map<std::string, std::string>;

/// Reads the mapping.csv of a directory; empty if the file does not exist. Errors: throws Error
/// "{file}:{line}: ..." for a line without comma, or a name with '/'.
NameMapping read_name_mapping(const std::filesystem::path& directory);

/// Adds new entries to the mapping.csv of a directory. Errors: as for read_name_mapping, and
/// RunError if it cannot be written.
void add_to_name_mapping(const std::filesystem::path& directory, const NameMapping& added);

/// File name for `name`: `name` itself if it has fewer than 255 bytes, else 32 digits derived from
/// it, with its extension.
std::string fitting_file_name(const std::string& name);

}  // namespace opbench
