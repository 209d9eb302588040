#include "text/same_bytes.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace opbench {

bool has_same_bytes(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  std::error_code error_a, error_b;
  const bool is_same_size = fs::file_size(a, error_a) == fs::file_size(b, error_b);
  if (!is_same_size || error_a || error_b) return false;
  std::ifstream first(a, std::ios::binary), second(b, std::ios::binary);
  using Bytes = std::istreambuf_iterator<char>;
  return first && second && std::equal(Bytes(first), Bytes(), Bytes(second), Bytes());
}

}  // namespace opbench
