#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dump/dump_types.h"

namespace opbench {

/// Content of a dump file.
struct Catalogue {
  std::vector<DumpRecord> records;  ///< by operator (bytes), number, name
  std::vector<DumpEntry> strays;    ///< datasets outside of any /{op}/{seq}, in the file's order
  std::vector<std::string> problems;
  std::int64_t damaged = 0;  ///< number of problems that are damage to the file
};

/// Adds another part of the catalogue of a file.
void append(Catalogue& catalogue, Catalogue&& part);
/// Sorts the records into the order of Catalogue::records.
void sort_records(Catalogue& catalogue);

/// Encodes the catalogue as bytes. The process that reads the file sends it so.
std::string encode(const Catalogue& catalogue);
/// Decodes a catalogue. A damaged file may make the library overwrite that process's memory, so the
/// bytes are not trusted. The properties that a reader relies on in an entry without a problem are
/// checked against `file_bytes`, the file's size.
/// Errors: throws Error if the bytes are not a catalogue from `encode`.
Catalogue decode_catalogue(std::string_view bytes, std::int64_t file_bytes);

/// Unpacked size of the tensors of one file. A small file can declare hours of unpacking: zeros are
/// packed to a thousandth of their size, and a fill value needs no space.
class Expansion {
 public:
  explicit Expansion(std::int64_t file_bytes);

  /// Counts an entry that will be unpacked. Sets its problem if the total exceeds the limit.
  void take(DumpEntry& entry);

 private:
  double left_;  // bytes
};

}  // namespace opbench
