#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

#include "text/temporary_file.h"

namespace opbench {

/// A result file, reserved before a long run and written after it. A temporary file in the folder
/// of `path` replaces it when complete, so an incomplete file never appears and an existing file
/// stays until then. Errors: throws RunError "cannot write ...: reason"; devices and directories
/// are refused.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path) : path_(path), temporary_(path) {}
  void write(const std::function<void(std::ostream&)>& content);

 private:
  std::string path_;
  TemporaryFile temporary_;
};

/// Creates a directory for results, and its parents. Errors: throws RunError "cannot make directory
/// 'out': reason".
void make_directory(const std::filesystem::path& directory);

/// True if a result may replace this file: it is empty, or begins like a text that opbench writes.
/// A dump is never replaced, because it is data. True also if the file is missing or not regular,
/// because opening it reports the reason.
bool is_own_result(const std::filesystem::path& path);

/// A regular file to which whole lines are appended, created if missing. Callers handle locking,
/// and lines that a killed process left unfinished.
class LineFile {
 public:
  struct Words {
    std::string name;    ///< name in errors: "cannot write NAME: reason"
    std::string locked;  ///< reason if the lock is not available
  };

  /// Errors: throws RunError "cannot write NAME: reason".
  LineFile(const std::string& path, Words words);
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  int descriptor() const { return file_; }
  /// Returns the size. Errors: as for the constructor.
  std::int64_t size() const;
  /// Appends a text; removes an incomplete write. Errors: as for the constructor.
  void append(std::string_view text) const;
  /// Throws for an error number. EWOULDBLOCK means the lock, EINVAL a file that is not regular.
  [[noreturn]] void fail(int error) const;

 private:
  Words words_;
  int file_;
};

}  // namespace opbench
