#pragma once

#include <filesystem>
#include <string>

/// Temporary files that a killed process left behind.
namespace opbench::stale_files {

/// The name of a temporary file of this process: ".opbench-{process}-{number}.part".
std::string new_name(int number);

/// Locks a file that is open for reading and writing, until it is closed. 0, or the error: EAGAIN
/// if it is locked elsewhere. Who opens the file with HDF5 does not notice.
int lock(int descriptor);

/// Removes those in the directory of `file` which no process has locked; once for a directory.
void remove_beside(const std::filesystem::path& file);

}  // namespace opbench::stale_files
