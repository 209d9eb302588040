#pragma once

#include <cstddef>
#include <string>

namespace opbench {

inline constexpr std::size_t kLargestInputFile = 4 << 20;

/// The bytes of a file that a user names: a case file, a file of standards; `what` names it in
/// messages, which may be "". Errors: throws Error "cannot read ...: reason" if it is missing, no
/// regular file, larger than `most_bytes` or cannot be read to its end. Never waits for a file.
std::string read_input_file(const std::string& path, const std::string& what,
                            std::size_t most_bytes = kLargestInputFile);

}  // namespace opbench
