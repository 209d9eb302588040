#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dump/regular_file.h"

namespace opbench {

/// A file in a .zip file.
struct ZipMember {
  std::string name;
  std::int64_t bytes = 0;    ///< unpacked
  std::int64_t offset = -1;  ///< where they lie in the file; -1 where they are packed
  std::uint32_t sum = 0;     ///< CRC-32
  std::string problem;       ///< why it cannot be read; empty if it can
};

/// The files in a .zip file, be it .npz or .pt; nothing in it is trusted.
class ZipFile {
 public:
  /// `file` must outlive it. Errors: throws Error if it is no .zip file or its directory is
  /// damaged.
  explicit ZipFile(const RegularFile& file);
  ~ZipFile();

  const std::vector<ZipMember>& members() const;

  /// Bytes of a member. Stored ones are read at any place; packed ones fast only in order, since
  /// what comes before has to be unpacked again. Thread-safe. Errors: throws Error if the range
  /// leaves it, it is damaged, or it was read in order to its end and its sum is wrong.
  void read(std::size_t member, std::int64_t offset, std::size_t count, void* to);

  /// Sums are not looked at: PyTorch can be told to write none.
  void ignore_sums();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace opbench
