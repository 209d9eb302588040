#include "text/input_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tensor/error.h"

namespace opbench {

std::string read_input_file(const std::string& path, const std::string& what) {
  namespace fs = std::filesystem;
  constexpr std::uintmax_t kLargestFile = 4 << 20;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  const auto fail = [&](const std::string& reason) {
    throw Error(fmt::format("cannot read {} '{}': {}", what, path, reason));
  };
  if (error) fail(error.message());
  if (!fs::is_regular_file(status)) fail("it is no regular file");
  if (fs::file_size(path, error) > kLargestFile) fail("it is larger than 4 MiB");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail(std::strerror(errno));
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace opbench
