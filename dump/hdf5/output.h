#pragma once

#include <H5Cpp.h>

#include <string>
#include <vector>

#include "text/temporary_file.h"
#include "workers/message_socket.h"

namespace opbench::hdf5 {

/// Creates an HDF5 file that is written into `file`, which must outlive it.
///
/// The HDF5 library does not recover from a failed write: objects that it could not close make it
/// fail at the end of the process. The driver therefore hides errors: `file` stores the error and
/// discards later data. Callers must check `file` after each step.
/// Errors: H5::Exception.
H5::H5File create_file(TemporaryFile& file);

/// Main function of the copying process: opens the file at `path`, called `name` in messages, and
/// copies objects into `to`. Sends an empty `data` message, or the reason of a failure.
void copy_objects(MessageSocket& socket, const std::string& path, const std::string& name,
                  TemporaryFile& to, const std::vector<std::string>& objects) noexcept;

}  // namespace opbench::hdf5
