#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

/// Functions for temporary files that a killed process left behind.
namespace opbench::stale_files {

/// Returns a name for a temporary file of this process: ".opbench-{process}-{number}.part".
std::string new_name(int number);

/// Locks a file open for reading and writing, until it is closed. Returns 0, or the error: EAGAIN
/// if it is locked elsewhere. Does not conflict with HDF5's locks.
int lock(int descriptor);

/// Removes unlocked temporary files in the directory of `file`, once for each directory.
void remove_beside(const std::filesystem::path& file);

}  // namespace opbench::stale_files

namespace opbench {

/// Returns the file that a path leads to through links; it need not exist.
std::filesystem::path behind_links(const std::filesystem::path& path);

/// A new, empty file that replaces `target` when committed. Until then it has no name, so it
/// disappears when its process ends (O_TMPFILE). On a file system without unnamed files it has a
/// name in the folder of `target`, and is locked during its lifetime. If it is not committed it is
/// removed, by the destructor or, after a kill, by the next file in the same directory. The
/// replaced file's mode is kept. A link stays a link, even to a missing file.
///
/// A failed write is remembered, and later writes do nothing: `check` and `commit` report it.
/// Errors: throws RunError "cannot write {target}: {reason}".
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& target);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  /// Target path as given.
  const std::filesystem::path& target() const { return target_; }

  /// Appends bytes.
  void write(const void* bytes, std::size_t count);
  void write_at(std::uint64_t offset, const void* bytes, std::size_t count);
  void resize(std::uint64_t bytes);
  /// Bytes beyond the end are read as 0. Returns false if reading fails.
  bool read_at(std::uint64_t offset, void* bytes, std::size_t count) const;

  /// Descriptor, open for reading and writing. A child process that writes may keep it.
  int descriptor() const { return descriptor_; }

  bool has_failed() const { return error_ != 0; }
  /// Throws if a write has failed: "cannot write {target}: {doing}: {reason}".
  void check(std::string_view doing = "") const;
  void commit();

 private:
  void take_place();

  std::filesystem::path target_;
  std::filesystem::path place_;  // target with all links resolved
  std::filesystem::path path_;   // name until it is committed; empty: unnamed
  int descriptor_ = -1;
  int error_ = 0;           // error of the first failed write
  std::uint64_t size_ = 0;  // number of bytes appended
};

}  // namespace opbench
