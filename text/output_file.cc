#include "text/output_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include "tensor/error.h"

namespace opbench {

void OutputFile::write(const std::function<void(std::ostream&)>& content) {
  errno = 0;
  std::ofstream file(temporary_.path(), std::ios::binary | std::ios::trunc);
  content(file);
  file.close();
  if (!file) {
    throw RunError(
        fmt::format("cannot write {}: {}", temporary_.path().string(), std::strerror(errno)));
  }
  temporary_.commit();
}

void make_directory(const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    throw RunError(
        fmt::format("cannot make directory '{}': {}", directory.string(), error.message()));
  }
}

}  // namespace opbench
