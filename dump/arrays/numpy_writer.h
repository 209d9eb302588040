#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

#include "dump/dump_types.h"
#include "tensor/shape.h"
#include "text/temporary_file.h"

namespace opbench {

/// Writes one tensor as a .npy file (NumPy's format 1.0, C order), piece by piece. The file appears
/// under its name in `finish`. Errors: throws RunError "cannot write {path}: {reason}".
class NpyWriter {
 public:
  NpyWriter(const std::filesystem::path& path, StoredType type, const Dims& shape);
  /// The next elements, in the machine's byte order.
  void write(const void* elements, std::size_t bytes);
  /// All elements must have been written.
  void finish();

 private:
  TemporaryFile file_;
};

/// Writes arrays into one .npz file, as numpy.savez does: .npy files, stored, in a .zip file of any
/// size. The file appears under its name in `finish`. Errors: throws RunError "cannot write
/// {path}: {reason}", and Error for names and types that cannot be written.
class NpzWriter {
 public:
  explicit NpzWriter(const std::filesystem::path& path);
  ~NpzWriter();

  /// Begins the next array; all elements of the one before must have been written.
  void begin(const std::string& name, StoredType type, const Dims& shape);
  /// The next elements, in C order and the machine's byte order.
  void write(const void* elements, std::size_t bytes);
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace opbench
