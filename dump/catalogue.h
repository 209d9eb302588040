#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dump/dump_types.h"

namespace opbench {

/// What a dump file holds.
struct Catalogue {
  std::vector<DumpRecord> records;  ///< by operator (bytes), number, name
  std::vector<DumpEntry> strays;    ///< datasets outside of any /{op}/{seq}, in the file's order
  std::vector<std::string> problems;
  std::int64_t damaged = 0;  ///< of the problems, those that are damage to the file
};

/// Adds another part of the same file's catalogue.
void append(Catalogue& catalogue, Catalogue&& part);
/// Brings records into their order.
void sort_records(Catalogue& catalogue);

/// The catalogue as bytes, and back: how it comes from the process that reads the file.
std::string encode(const Catalogue& catalogue);
/// The library may have overwritten that process's memory on a damaged file, so nothing in the
/// bytes is trusted: what a reader relies on in an entry without a problem is checked against
/// `file_bytes`, the file's size.
/// Errors: throws Error if the bytes are not what `encode` makes of a dump.
Catalogue decode_catalogue(std::string_view bytes, std::int64_t file_bytes);

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
