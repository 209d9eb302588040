#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace opbench {

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
