#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace opbench {

/// Copies objects of an HDF5 file, named by their paths ("/softplus/2"), none below another, to the
/// same paths of a new one, as `h5copy -p` does: attributes, dtypes, layout and filters stay, the
/// groups above them are made anew. What stood at `to` before is replaced when all is there, and
/// stays if anything fails or once `stop` is true. The library runs in a process of its own.
/// Errors: throws Error if the file or an object in it cannot be read, RunError if `to` cannot be
/// written.
void extract(const std::filesystem::path& from, const std::filesystem::path& to,
             const std::vector<std::string>& objects, const std::function<bool()>& stop = {});

}  // namespace opbench
