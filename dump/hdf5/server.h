#pragma once

#include <functional>
#include <string>

#include "dump/dump_types.h"
#include "tensor/elements.h"
#include "workers/message_socket.h"

namespace opbench::hdf5 {

/// Main function of the reading process: sends the catalogue if `lists`, then answers requests for
/// data until the socket is closed. `path` is the file's path in this process, `name` its name in
/// messages.
void serve(MessageSocket& socket, const std::string& path, const std::string& name,
           bool lists) noexcept;

/// Runs `work` and sends its exception: a RunError as a failure of the machine, and a lack of
/// memory as `of_memory`. Returns true if it throws nothing.
bool report_problems(MessageSocket& socket, MessageKind of_memory,
                     const std::function<void()>& work) noexcept;

/// Encodes a request for stored elements of an entry by their places in the file.
std::string encode_request(const DumpEntry& entry, ElementRange places);

}  // namespace opbench::hdf5
