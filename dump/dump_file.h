#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dump/dump_types.h"
#include "tensor/elements.h"

namespace opbench {

/// An HDF5 dump of any origin, opened for reading; nothing in it is trusted.
///
/// The HDF5 library runs in a process of its own, because it can crash on damaged files and serves
/// one thread at a time: two files are listed side by side, and what brings the library down ends
/// as an Error here. Contiguous data is read without it, at its place in the file.
class DumpFile {
 public:
  /// Opens the file and starts to list what it holds; returns at once.
  /// Errors: throws Error if the file is missing, not a regular file or not readable.
  explicit DumpFile(const std::filesystem::path& path);
  DumpFile(DumpFile&&) noexcept;
  ~DumpFile();

  const std::string& name() const;

  /// By operator (bytes of its name), then by number, then by the group's name. Waits for the list.
  /// Errors: throws Error if it is no HDF5 file, is damaged or holds no dump.
  const std::vector<DumpRecord>& records();
  /// Datasets that stand outside of any /{op}/{seq}, by path.
  const std::vector<DumpEntry>& strays();
  /// What DumpWriter::attach wrote, named as there: "samples/start_us". They are in no record.
  const std::vector<DumpEntry>& attachments();
  /// What was left out because it is no dataset or could not be opened, one line each.
  const std::vector<std::string>& problems();
  /// How many of those the file is damaged at: what was in them is not known.
  std::int64_t damaged();

  /// Elements of an entry as they are stored (entry.stored, in the machine's byte order), in
  /// logical order. Thread-safe for entries whose data is contiguous in the file; others wait for
  /// each other. Memory: a few MiB, and more only for strided entries. Errors: throws Error if the
  /// entry has a problem, the range leaves it, the data is damaged or the file was changed since it
  /// was opened.
  void read(const DumpEntry& entry, ElementRange range, void* to);

  /// True if `read` would give zeros that the file has no blocks for; false where that is not
  /// known.
  bool is_hole(const DumpEntry& entry, ElementRange range) const;

  /// From now on reads give up with an Error soon after `stop` is true. Before the first of them.
  void stop_when(std::function<bool()> stop);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace opbench
