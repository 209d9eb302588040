#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace opbench {

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
