#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace opbench {

/// What a file holds; "" where there is none.
std::string text_of(const std::filesystem::path& file);

/// A directory of its own, empty at the start and gone at the end. A fixture inherits it:
/// `class Cli : public testing::Test, protected TempDir {};`
class TempDir {
 public:
  /// Errors: throws std::filesystem::filesystem_error where none can be made.
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& directory() const { return directory_; }
  std::string path(std::string_view name) const { return directory_ / name; }
  /// Writes a file, with the directories that it needs, and returns its path.
  std::string write(std::string_view name, std::string_view text) const;
  std::string read(std::string_view name) const { return text_of(directory_ / name); }
  /// The names of all files and directories in it, sorted.
  std::vector<std::string> files() const;

 private:
  std::filesystem::path directory_;
};

}  // namespace opbench
