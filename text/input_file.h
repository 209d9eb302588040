#pragma once

#include <string>

namespace opbench {

/// The text of a file that a user wrote: a case file, a file of standards; `what` names it in
/// messages. Errors: throws Error "cannot read ...: reason" if it is missing, no regular file or
/// larger than 4 MiB.
std::string read_input_file(const std::string& path, const std::string& what);

}  // namespace opbench
