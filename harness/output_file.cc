#include "harness/output_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tensor/error.h"

namespace opbench {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& reason) {
  throw RunError(fmt::format("cannot write '{}': {}", path, reason));
}

}  // namespace

void check_writable(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path parent = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : ".";
  if (fs::is_directory(path, ignored)) fail(path, "it is a directory; name a file in it");
  if (!fs::is_directory(parent, ignored)) {
    fail(path, fmt::format("there is no directory '{}'; make it first", parent.string()));
  }
  if (access(parent.c_str(), W_OK) != 0) fail(path, std::strerror(errno));
}

void write_file(const std::string& path, const std::function<void(std::ostream&)>& write) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, getpid());
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  if (!file) fail(path, std::strerror(errno));
  write(file);
  file.close();
  if (!file || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string reason = std::strerror(errno);
    std::remove(temporary.c_str());
    fail(path, reason);
  }
}

}  // namespace opbench
