#pragma once

#include <cstddef>
#include <memory>
#include <streambuf>
#include <string>

namespace opbench {

inline constexpr std::size_t kLargestInputFile = 4 << 20;  // bytes

/// Reads a file named by the user, such as a case file. `what` describes it in messages and may be
/// empty. Errors: throws Error "cannot read ...: reason" if the file is missing, not a regular
/// file, larger than `most_bytes` or cannot be read to its end. Never blocks on a file.
std::string read_input_file(const std::string& path, const std::string& what,
                            std::size_t most_bytes = kLargestInputFile);

/// Streams a file that is too large for memory. Errors: those of `read_input_file`; errors while
/// reading are thrown by the read functions.
class InputFile : public std::streambuf {
 public:
  InputFile(const std::string& path, const std::string& what, std::size_t most_bytes);
  ~InputFile() override;

 private:
  int_type underflow() override;

  struct Source;
  std::unique_ptr<Source> source_;
};

/// True if two files have equal content; false if a file cannot be read.
bool has_same_bytes(const std::string& a, const std::string& b);

}  // namespace opbench
