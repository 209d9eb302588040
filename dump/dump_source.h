#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dump/catalogue.h"
#include "dump/dump_types.h"
#include "tensor/elements.h"

namespace opbench {

/// Recorded tensors by operator, from any of:
///   - an HDF5 dump;
///   - a file of arrays (.npy, .npz, .pt): each array is a stray;
///   - a folder with dump.json of msprobe, and the tensors that it names;
///   - a folder of arrays and dumps, at any depth. A file `op/number/input/name.npy` is like the
///     dataset of that path in an HDF5 dump, `type.name.task.stream.time.input.0.npy` is an
///     input of the operator `type.name`, and any other file is a stray;
///   - folders of those, such as step0/rank1: their names precede the operators' names.
/// No content is trusted.
class DumpSource {
 public:
  /// Opens the source, and starts to list an HDF5 dump. Errors: throws Error if it cannot be opened
  /// or holds no such data.
  explicit DumpSource(const std::filesystem::path& path);
  /// A source in memory: `catalogue` is its content, and `read` reads entries. `read` throws Error
  /// and gets only ranges within the entry.
  using Read = std::function<void(const DumpEntry& entry, ElementRange range, void* to)>;
  DumpSource(const std::string& name, const Catalogue& catalogue, std::int64_t bytes, Read read);
  DumpSource(DumpSource&&) noexcept;
  ~DumpSource();

  const std::string& name() const;
  /// Total size of its files.
  std::int64_t bytes() const;
  /// True for a file of one array, such as .npy.
  bool is_one_array() const;

  // These members are like those of DumpFile.
  const std::vector<DumpRecord>& records();
  const std::vector<DumpEntry>& strays();
  /// True for a single HDF5 file with attachments.
  bool has_attachments();
  const std::vector<std::string>& problems();
  std::int64_t damaged();
  void read(const DumpEntry& entry, ElementRange range, void* to);
  bool is_hole(const DumpEntry& entry, ElementRange range);
  void stop_when(std::function<bool()> stop);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace opbench
