#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace opbench {

/// A regular file, open for reading at any place; whoever changes it meanwhile is noticed.
class RegularFile {
 public:
  /// Never waits, as opening a pipe would. Errors: throws Error "cannot open {path}: {reason}" if
  /// it is missing, no regular file or not readable.
  explicit RegularFile(const std::filesystem::path& path);
  ~RegularFile();
  RegularFile(const RegularFile&) = delete;
  RegularFile& operator=(const RegularFile&) = delete;

  const std::string& name() const { return name_; }
  std::int64_t bytes() const { return state_.st_size; }  ///< when it was opened
  int descriptor() const { return descriptor_; }

  /// Thread-safe. Errors: throws RunError if it cannot be read or ends before.
  void read(std::int64_t offset, std::size_t count, void* to) const;

  /// True if nothing was ever written there, so that all bytes are 0 and need no reading; false
  /// where that is not known. Thread-safe.
  bool is_hole(std::int64_t offset, std::int64_t count) const;

  /// Errors: throws RunError if size or time are not those of when it was opened.
  void check_unchanged() const;

 private:
  std::string name_;
  int descriptor_;
  struct stat state_ {};
};

}  // namespace opbench
