#pragma once

#include <cstddef>
#include <filesystem>

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

}  // namespace opbench
