#pragma once

#include <functional>
#include <string>

#include "dump/dump_types.h"
#include "tensor/elements.h"
#include "workers/message_socket.h"

namespace opbench::hdf5 {

/// What the process that reads a file does: sends its list if it `lists`, then answers requests for
/// data until the other end is gone. `path` is where this process finds the file, `name` what
/// messages call it.
void serve(MessageSocket& socket, const std::string& path, const std::string& name,
           bool lists) noexcept;

/// Sends what `work` throws, a RunError as a failure of the machine and a lack of memory as
/// `of_memory`; true if it throws nothing.
bool report_problems(MessageSocket& socket, MessageKind of_memory,
                     const std::function<void()>& work) noexcept;

/// Asks for stored elements of an entry by their places in the file.
std::string encode_request(const DumpEntry& entry, ElementRange places);

}  // namespace opbench::hdf5
