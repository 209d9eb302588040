#include "text/output_file.h"

#include <fmt/format.h>

#include <array>
#include <ostream>
#include <streambuf>
#include <system_error>

#include "tensor/error.h"

namespace opbench {
namespace {

/// Passes what is printed on to a file, piece by piece. The stream fails when the file does.
class FileBuffer : public std::streambuf {
 public:
  explicit FileBuffer(TemporaryFile& file) : file_(file) { empty(); }

 private:
  int sync() override {
    file_.write(pbase(), static_cast<std::size_t>(pptr() - pbase()));
    empty();
    return file_.has_failed() ? -1 : 0;
  }

  int_type overflow(int_type letter) override {
    if (sync() != 0) return traits_type::eof();
    return traits_type::eq_int_type(letter, traits_type::eof())
               ? traits_type::not_eof(letter)
               : sputc(traits_type::to_char_type(letter));
  }

  void empty() { setp(piece_.data(), piece_.data() + piece_.size()); }

  TemporaryFile& file_;
  std::array<char, 64 * 1024> piece_;
};

}  // namespace

void OutputFile::write(const std::function<void(std::ostream&)>& content) {
  FileBuffer buffer(temporary_);
  std::ostream out(&buffer);
  content(out);
  out.flush();
  temporary_.check();
  if (!out) throw RunError(fmt::format("cannot write {}: its content is not complete", path_));
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
