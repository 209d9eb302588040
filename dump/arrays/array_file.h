#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "dump/dump_types.h"
#include "tensor/elements.h"

namespace opbench {

/// Arrays in a file of NumPy or PyTorch, opened for reading; nothing in it is trusted and no code
/// in it is run. What kind of file it is tell its first bytes:
///   .npy       one array, named after the file
///   .npz       arrays by their names, stored or deflated
///   .pt, .pth  tensors by their places in the object that was saved: "model/conv1.weight"; as a
///              .zip file (PyTorch 1.6 and later) and as older versions wrote it
class ArrayFile {
 public:
  /// Errors: throws Error "{path}: {field}: ..." if the file is missing, not a regular file, of
  /// another kind or so damaged that its arrays are not known.
  explicit ArrayFile(const std::filesystem::path& path);
  ArrayFile(ArrayFile&&) noexcept;
  ~ArrayFile();

  const std::string& name() const;

  /// In the file's order: name, path (the same), desc, stored; problem where one cannot be read.
  const std::vector<DumpEntry>& entries() const;
  /// What was left out because it is no array, one line each.
  const std::vector<std::string>& problems() const;

  /// Elements of one of `entries()` as they are stored (entry.stored, in the machine's byte order),
  /// in C order. Thread-safe. Memory: a few MiB, and 16 MiB more where they lie in another order.
  /// Errors: throws Error if the entry has a problem, the range leaves it, the data is damaged or
  /// the file was changed since it was opened.
  void read(const DumpEntry& entry, ElementRange range, void* to);
  /// True if `read` would give zeros that the file has no blocks for; false where that is not
  /// known.
  bool is_hole(const DumpEntry& entry, ElementRange range) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Is it called like such a file: .npy, .npz, .pt, .pth?
bool has_array_suffix(const std::filesystem::path& path);

}  // namespace opbench
