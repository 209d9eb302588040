#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace opbench {

/// Returns the content of a file; "" if it does not exist.
std::string text_of(const std::filesystem::path& file);

/// A temporary directory, empty at the start and removed at the end. A fixture inherits it: `class
/// Cli : public testing::Test, protected TempDir {};`
class TempDir {
 public:
  /// Errors: throws std::filesystem::filesystem_error if it cannot be created.
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& directory() const { return directory_; }
  std::string path(std::string_view name) const { return directory_ / name; }
  /// Writes a file, creates its directories if necessary, and returns its path.
  std::string write(std::string_view name, std::string_view text) const;
  std::string read(std::string_view name) const { return text_of(directory_ / name); }
  /// Names of all files and directories in it, sorted.
  std::vector<std::string> files() const;

 private:
  std::filesystem::path directory_;
};

}  // namespace opbench
