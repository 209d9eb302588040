#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace opbench {

/// A regular file, open for reading at any offset. Changes of the file are detected.
class RegularFile {
 public:
  /// Does not block on pipes. Errors: throws Error "cannot open {path}: {reason}" if the file is
  /// missing, not a regular file or not readable.
  explicit RegularFile(const std::filesystem::path& path);
  ~RegularFile();
  RegularFile(const RegularFile&) = delete;
  RegularFile& operator=(const RegularFile&) = delete;

  const std::string& name() const { return name_; }
  std::int64_t bytes() const { return state_.st_size; }  ///< size when opened
  int descriptor() const { return descriptor_; }

  /// Thread-safe. Errors: throws RunError if it cannot be read or ends too soon.
  void read(std::int64_t offset, std::size_t count, void* to) const;

  /// True if the range is known to be a hole of the file, which reads as zeros. Thread-safe.
  bool is_hole(std::int64_t offset, std::int64_t count) const;

  /// Errors: throws RunError if size or modification time changed after opening.
  void check_unchanged() const;

 private:
  std::string name_;
  int descriptor_;
  struct stat state_ {};
};

}  // namespace opbench
