#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

/// Temporary files that a killed process left behind.
namespace opbench::stale_files {

/// The name of a temporary file of this process: ".opbench-{process}-{number}.part".
std::string new_name(int number);

/// Locks a file that is open for reading and writing, until it is closed. 0, or the error: EAGAIN
/// if it is locked elsewhere. Who opens the file with HDF5 does not notice.
int lock(int descriptor);

/// Removes those in the directory of `file` which no process has locked; once for a directory.
void remove_beside(const std::filesystem::path& file);

}  // namespace opbench::stale_files

namespace opbench {

/// The file that a path leads to through links, be it there already or still to come.
std::filesystem::path behind_links(const std::filesystem::path& path);

/// A new, empty file that takes the place of `target` when committed. Until then it has no name, so
/// that nothing of it is left wherever its process ends (O_TMPFILE). On a file system without such
/// files it has a name beside `target`, is removed when it is not committed, and is locked while
/// its process lives: the next file in the same directory removes one that a killed process left.
/// What is replaced keeps its mode; a link stays a link, also one to a file that is still to come.
///
/// A write that fails is remembered, and those after it do nothing: `check` and `commit` report it.
/// Errors: throws RunError "cannot write {target}: {reason}".
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& target);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  /// As it was given.
  const std::filesystem::path& target() const { return target_; }

  /// Appends.
  void write(const void* bytes, std::size_t count);
  void write_at(std::uint64_t offset, const void* bytes, std::size_t count);
  void resize(std::uint64_t bytes);
  /// What lies beyond the end is read as 0. False if it cannot be read.
  bool read_at(std::uint64_t offset, void* bytes, std::size_t count) const;

  /// It is open for; a child process that writes may keep it.
  int descriptor() const { return descriptor_; }

  bool has_failed() const { return error_ != 0; }
  /// Throws if a write has failed: "cannot write {target}: {doing}: {reason}".
  void check(std::string_view doing = "") const;
  void commit();

 private:
  void take_place();

  std::filesystem::path target_;
  std::filesystem::path place_;  // behind all links
  std::filesystem::path path_;   // its name until it is committed; empty: none
  int descriptor_ = -1;
  int error_ = 0;           // of the first write that failed
  std::uint64_t size_ = 0;  // of what was appended
};

}  // namespace opbench
