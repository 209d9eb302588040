#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dump/regular_file.h"

namespace opbench {

/// A file inside a .zip file.
struct ZipMember {
  std::string name;
  std::int64_t bytes = 0;    ///< unpacked
  std::int64_t offset = -1;  ///< offset of the data in the file; -1 for packed data
  std::uint32_t sum = 0;     ///< CRC-32
  std::string problem;       ///< why it cannot be read; else empty
};

/// The files inside a .zip file, such as .npz or .pt. No content is trusted.
class ZipFile {
 public:
  /// `file` must outlive the object. Errors: throws Error if it is not a .zip file or its directory
  /// is damaged.
  explicit ZipFile(const RegularFile& file);
  ~ZipFile();

  const std::vector<ZipMember>& members() const;

  /// Reads bytes of a member. Stored members are read at any offset. Packed members are fast only
  /// in order: a read at a lower offset unpacks from the start again. Thread-safe. Errors: throws
  /// Error if the range exceeds the member, the data is damaged, or the member was read in order to
  /// its end and its CRC-32 is wrong.
  void read(std::size_t member, std::int64_t offset, std::size_t count, void* to);

  /// Disables the check of CRCs, because PyTorch can write files without them.
  void ignore_sums();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace opbench
