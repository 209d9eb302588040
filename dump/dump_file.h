#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dump/dump_types.h"
#include "tensor/elements.h"

namespace opbench {

/// An HDF5 dump of any origin, opened for reading. No content is trusted.
///
/// The HDF5 library runs in a separate process, because it can crash on damaged files and serves
/// one thread at a time. Two files can therefore be listed at the same time, and a crash of the
/// library becomes an Error. Contiguous data is read without the library, at its place in the file.
class DumpFile {
 public:
  /// Opens the file, starts to list its content, and returns at once.
  /// Errors: throws Error if the file is missing, not a regular file or not readable.
  explicit DumpFile(const std::filesystem::path& path);
  DumpFile(DumpFile&&) noexcept;
  ~DumpFile();

  const std::string& name() const;

  /// Records by operator (bytes of its name), then number, then name of the group. Waits for the
  /// list. Errors: throws Error if the file is not HDF5, is damaged or holds no dump.
  const std::vector<DumpRecord>& records();
  /// Datasets outside of any /{op}/{seq}, by path.
  const std::vector<DumpEntry>& strays();
  /// Data written by DumpWriter::attach, with its name: "samples/start_us". Not part of any record.
  const std::vector<DumpEntry>& attachments();
  /// Objects that were skipped because they are not datasets or could not be opened, one line each.
  const std::vector<std::string>& problems();
  /// Number of problems that are damage to the file, whose content is unknown.
  std::int64_t damaged();

  /// Reads elements of an entry as stored (entry.stored, in the machine's byte order), in logical
  /// order. Thread-safe. Reads of data that is not contiguous in the file wait for each other.
  /// Memory: a few MiB, and more only for strided entries. Errors: throws Error if the entry has a
  /// problem, the range exceeds it, the data is damaged, or the file was changed after it was
  /// opened.
  void read(const DumpEntry& entry, ElementRange range, void* to);

  /// True if the range is known to be a hole of the file, which reads as zeros.
  bool is_hole(const DumpEntry& entry, ElementRange range) const;

  /// Makes reads throw an Error soon after `stop` is true. Must precede the first read.
  void stop_when(std::function<bool()> stop);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace opbench
