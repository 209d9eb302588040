#pragma once

#include <cstddef>
#include <memory>
#include <streambuf>
#include <string>

namespace opbench {

inline constexpr std::size_t kLargestInputFile = 4 << 20;

/// The bytes of a file that a user names: a case file, a file of standards; `what` names it in
/// messages, which may be "". Errors: throws Error "cannot read ...: reason" if it is missing, no
/// regular file, larger than `most_bytes` or cannot be read to its end. Never waits for a file.
std::string read_input_file(const std::string& path, const std::string& what,
                            std::size_t most_bytes = kLargestInputFile);

/// The same of a file that is too large to be held: its bytes as they are asked for. Errors: those
/// of `read_input_file`, of what is found while reading by whoever reads.
class InputFile : public std::streambuf {
 public:
  InputFile(const std::string& path, const std::string& what, std::size_t most_bytes);
  ~InputFile() override;

 private:
  int_type underflow() override;

  struct Source;
  std::unique_ptr<Source> source_;
};

/// Do two files hold the same bytes? False where one of them cannot be read.
bool has_same_bytes(const std::string& a, const std::string& b);

}  // namespace opbench
