#pragma once

#include <cstdint>

#include "dump/catalogue.h"

namespace opbench {

/// What the tensors of one file unpack to. A small file can declare hours of unpacking: zeros take
/// a thousandth of their size, and a fill value takes no place at all.
class Expansion {
 public:
  explicit Expansion(std::int64_t file_bytes);

  /// Counts an entry that is to be unpacked. Its problem says so where that is too much with those
  /// before it.
  void take(DumpEntry& entry);

 private:
  double left_;  // bytes
};

}  // namespace opbench
