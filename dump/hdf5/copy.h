#pragma once

#include <string>
#include <vector>

#include "text/temporary_file.h"
#include "workers/message_socket.h"

namespace opbench::hdf5 {

/// What the process that copies does: opens the file at `path`, which messages call `name`, copies
/// objects into `to`, and says so with an empty `data`, or why not.
void copy_objects(MessageSocket& socket, const std::string& path, const std::string& name,
                  TemporaryFile& to, const std::vector<std::string>& objects) noexcept;

}  // namespace opbench::hdf5
