#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

#include "text/temporary_file.h"

namespace opbench {

/// A result file: reserved before a long run, written as a whole after it. A temporary file beside
/// `path` takes its place when complete, so no half file appears and what stood there stays until
/// then. Errors: throws RunError "cannot write ...: reason"; devices and directories are refused.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path) : path_(path), temporary_(path) {}
  void write(const std::function<void(std::ostream&)>& content);

 private:
  std::string path_;
  TemporaryFile temporary_;
};

/// Makes a directory for results, and those above it. Errors: throws RunError "cannot make
/// directory 'out': reason".
void make_directory(const std::filesystem::path& directory);

/// May a result take the place of this file? Only of an empty one, and of a text that opbench
/// itself wrote, known by its beginning. A dump is data and never an own result. True also where
/// there is no regular file: opening it tells what is wrong.
bool is_own_result(const std::filesystem::path& path);

/// A regular file to whose end whole lines are appended, made if there is none. When to lock it,
/// and what to do about a line that a killed process has left unfinished, is the user's.
class LineFile {
 public:
  struct Words {
    std::string name;    ///< in errors: "cannot write NAME: reason"
    std::string locked;  ///< the reason where a lock is not to be had
  };

  /// Errors: throws RunError "cannot write NAME: reason".
  LineFile(const std::string& path, Words words);
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  int descriptor() const { return file_; }
  /// Bytes in it. Errors: as the constructor's.
  std::int64_t size() const;
  /// Appends; what cannot be written whole is taken back. Errors: as the constructor's.
  void append(std::string_view text) const;
  /// Throws for an error number; EWOULDBLOCK is the lock, EINVAL a file that is not regular.
  [[noreturn]] void fail(int error) const;

 private:
  Words words_;
  int file_;
};

}  // namespace opbench
