#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "dump/dump_types.h"
#include "tensor/elements.h"

namespace opbench {

/// A file of NumPy or PyTorch arrays, opened for reading. No content is trusted and no code in the
/// file is run. The first bytes determine the format:
///   .npy       one array, named after the file
///   .npz       arrays with their names, stored or deflated
///   .pt, .pth  tensors, named by their path in the saved object ("model/conv1.weight"); written
///              as a .zip file by PyTorch 1.6 and later, or in the older format
class ArrayFile {
 public:
  /// Errors: throws Error "{path}: {field}: ..." if the file is missing, is not a regular file, has
  /// another format, or is so damaged that its arrays cannot be listed.
  explicit ArrayFile(const std::filesystem::path& path);
  ArrayFile(ArrayFile&&) noexcept;
  ~ArrayFile();

  const std::string& name() const;

  /// Entries in the file's order. Sets name, path (equal to the name), desc and stored; problem if
  /// the entry cannot be read.
  const std::vector<DumpEntry>& entries() const;
  /// Objects that were skipped because they are not arrays, one line each.
  const std::vector<std::string>& problems() const;

  /// Reads elements of one of `entries()` as they are stored (entry.stored, in the machine's byte
  /// order), in C order. Thread-safe. Memory: a few MiB, and 16 MiB more for other orders.
  /// Errors: throws Error if the entry has a problem, the range exceeds it, the data is damaged, or
  /// the file was changed after it was opened.
  void read(const DumpEntry& entry, ElementRange range, void* to);
  /// True if the range is known to be a hole of the file, which reads as zeros.
  bool is_hole(const DumpEntry& entry, ElementRange range) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// True for the extensions .npy, .npz, .pt, .pth, .pt.tar and .pth.tar.
bool has_array_suffix(const std::filesystem::path& path);

}  // namespace opbench
