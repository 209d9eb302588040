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

/// Recorded tensors by operator, wherever they lie:
///   - an HDF5 dump;
///   - a file of arrays (.npy, .npz, .pt): each is a stray;
///   - a folder with dump.json of msprobe, and the tensors that it names;
///   - a folder of arrays and dumps, however deep. A file `op/number/input/name.npy` is what the
///     dataset of that path is in an HDF5 dump, `type.name.task.stream.time.input.0.npy` is an
///     input of the operator `type.name`, and any other one is a stray;
///   - folders of those, such as step0/rank1: their names stand in front of operators' names.
/// Nothing in them is trusted.
class DumpSource {
 public:
  /// Opens it, and starts to list an HDF5 dump. Errors: throws Error if it cannot be opened or
  /// holds nothing of the kind.
  explicit DumpSource(const std::filesystem::path& path);
  /// One whose tensors are put together elsewhere: what it holds, and how its entries are read.
  /// `read` throws Error, and is asked for ranges within the entry only.
  using Read = std::function<void(const DumpEntry& entry, ElementRange range, void* to)>;
  DumpSource(const std::string& name, const Catalogue& catalogue, std::int64_t bytes, Read read);
  DumpSource(DumpSource&&) noexcept;
  ~DumpSource();

  const std::string& name() const;
  /// Of all its files.
  std::int64_t bytes() const;
  /// Is it a file of one array, such as .npy?
  bool is_one_array() const;

  // As DumpFile has them.
  const std::vector<DumpRecord>& records();
  const std::vector<DumpEntry>& strays();
  /// Is it one HDF5 file that has attachments?
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
