#pragma once

#include <filesystem>

namespace opbench {

/// A new, empty file beside `target` that takes its place when committed and is removed when not.
/// Errors: throws RunError "cannot write {target}: {reason}".
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& target);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  const std::filesystem::path& path() const { return path_; }
  void commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path path_;
};

}  // namespace opbench
