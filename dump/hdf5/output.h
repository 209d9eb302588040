#pragma once

#include <H5Cpp.h>

#include <string>
#include <vector>

#include "text/temporary_file.h"
#include "workers/message_socket.h"

namespace opbench::hdf5 {

/// An HDF5 file that is written into `file`, which must outlive it.
///
/// The library cannot live with a failed write: it keeps what it could not close and trips over it
/// at the end of the process. So it never learns of one: `file` remembers the error and drops the
/// rest. Ask `file` after each step.
/// Errors: H5::Exception.
H5::H5File create_file(TemporaryFile& file);

/// What the process that copies does: opens the file at `path`, which messages call `name`, copies
/// objects into `to`, and says so with an empty `data`, or why not.
void copy_objects(MessageSocket& socket, const std::string& path, const std::string& name,
                  TemporaryFile& to, const std::vector<std::string>& objects) noexcept;

}  // namespace opbench::hdf5
