#include "text/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "tensor/error.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

/// Writes the output to a file piece by piece. The stream fails when the file fails.
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

/// First characters of an opbench text, and another text within its first bytes.
struct Beginning {
  std::string_view first, also;
};

constexpr std::size_t kHead = 64 << 10;  // the first rows of a table of contexts are long

constexpr std::array kBeginnings = {
    Beginning{"{", "\"opbench"},  // JSON of every command; Google Benchmark's; Chrome traces
    Beginning{"<", "\"opbench"},  // pages, JUnit
    Beginning{"[\n{\"file\":", "\"operator\":"},    // JSON of show
    Beginning{"{\n  \"rows\": [", "\"variant\":"},  // JSON of invariance
    Beginning{"[{\"name\":\"", "\"reproduce\":"},   // .prof of run
    Beginning{"digraph opbench {", ""},
    Beginning{"# opbench results\n", ""},
    Beginning{"### :", "A change counts from "},           // Markdown of check, of any program
    Beginning{"### opbench: ", ""},                        // Markdown of check's history
    Beginning{"case,name,op,variant,", ""},                // CSV of run
    Beginning{"Device_id,Model Name,", ",HOST_CPU,"},      // op_summary and op_statistic of run
    Beginning{"execution,operator,seq,side,tensor,", ""},  // CSV of compare
    Beginning{"Detection Type: ", "Expert Advice: "},      // advisor_summary.txt of compare
    Beginning{"step,rank,verdict,", ""},                   // CSV of compare for folders
    Beginning{"file,op,seq,verdict,", ""},                 // CSV of judge
    Beginning{"type,core,count,total_us,", ""},            // CSV of ingest
};

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

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

bool is_own_result(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) == 0) return true;
  std::string head(kHead, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  for (const Beginning& known : kBeginnings) {
    if (head.starts_with(known.first) && head.find(known.also) != head.npos) return true;
  }
  return false;
}

// Opening a pipe without a reader would block.
LineFile::LineFile(const std::string& path, Words words)
    : words_(std::move(words)),
      file_(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666)) {
  if (file_ < 0) fail(errno);
  struct stat status {};
  const int error = fstat(file_, &status) != 0 ? errno : S_ISREG(status.st_mode) ? 0 : EINVAL;
  if (error == 0) return;
  close(file_);
  fail(error);
}

LineFile::~LineFile() { close(file_); }

std::int64_t LineFile::size() const {
  const off_t end = lseek(file_, 0, SEEK_END);
  if (end < 0) fail(errno);
  return end;
}

void LineFile::append(std::string_view text) const {
  const off_t end = size();
  if (write_all(file_, text)) return;
  const int error = errno;
  if (ftruncate(file_, end) != 0) {
    // Readers skip an unfinished line.
  }
  fail(error);
}

void LineFile::fail(int error) const {
  const char* reason = error == EINVAL        ? "it is not a regular file"
                       : error == EWOULDBLOCK ? words_.locked.c_str()
                                              : std::strerror(error);
  throw RunError(fmt::format("cannot write {}: {}", words_.name, reason));
}

}  // namespace opbench
