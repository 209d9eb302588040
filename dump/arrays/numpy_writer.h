#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

#include "dump/dump_types.h"
#include "tensor/shape.h"
#include "text/temporary_file.h"

namespace opbench {

/// Writes one tensor as a .npy file (NumPy's format 1.0, C order), piece by piece. `finish` gives
/// the file its final name. Errors: throws RunError "cannot write {path}: {reason}".
class NpyWriter {
 public:
  NpyWriter(const std::filesystem::path& path, StoredType type, const Dims& shape);
  /// Writes the next elements, in the machine's byte order.
  void write(const void* elements, std::size_t bytes);
  /// Requires that all elements were written.
  void finish();

 private:
  TemporaryFile file_;
};

/// Writes arrays into one .npz file like numpy.savez: stored .npy files in a .zip file of any size.
/// `finish` gives the file its final name. Errors: throws RunError "cannot write {path}: {reason}",
/// and Error for names and types that cannot be written.
class NpzWriter {
 public:
  explicit NpzWriter(const std::filesystem::path& path);
  ~NpzWriter();

  /// Begins the next array. All elements of the previous array must have been written.
  void begin(const std::string& name, StoredType type, const Dims& shape);
  /// Writes the next elements, in C order and the machine's byte order.
  void write(const void* elements, std::size_t bytes);
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace opbench
