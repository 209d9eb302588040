#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "dump/arrays/array_file.h"
#include "dump/catalogue.h"

namespace opbench {

/// Where the elements of an entry of a source are.
struct SourcePlace {
  int array_file = -1;      ///< number in SourceListing::array_files, or
  int dump_file = -1;       ///< in SourceListing::dump_files, or
  std::string value;        ///< the bytes of a value that stands in dump.json
  std::size_t index = 0;    ///< of the array in its file
  DumpEntry original = {};  ///< as the file has it
};

/// What the files of a source hold, while it is put together and after.
struct SourceListing {
  std::vector<std::filesystem::path> array_files, dump_files;
  Catalogue catalogue;
  std::unordered_map<std::string, SourcePlace> places;  ///< by the entry's path
  std::int64_t bytes = 0;

  /// Adds an entry at a path, which gets a number if it is taken: to the record of that operator
  /// and number, which is made if it is not there.
  void add_stray(const std::string& path, DumpEntry entry, SourcePlace place);
  void add(const std::string& op, const std::string& seq, Side side, const std::string& name,
           DumpEntry entry, SourcePlace place);
  DumpRecord& record(const std::string& op, const std::string& seq);

 private:
  void keep(DumpEntry& entry, const std::string& path, SourcePlace place);
  std::map<std::pair<std::string, std::string>, std::size_t> records_;
};

/// Is it a file of one array without a name of its own: .npy, or .pt of a tensor?
bool is_one_array(const ArrayFile& arrays, const std::filesystem::path& file);

/// Adds all arrays of a file, under `stem`, the path below the source without its suffix. What
/// cannot be read becomes a problem.
void add_array_file(SourceListing& listing, const std::filesystem::path& file,
                    const std::string& stem);

/// Adds what dump.json of msprobe names. `prefix` is "" or "step0/rank0/".
/// Errors: throws Error "{file}: ..." if it is no such file.
void add_msprobe(SourceListing& listing, const std::filesystem::path& file,
                 const std::string& prefix);

/// Adds what a folder and those in it hold.
void add_folder(SourceListing& listing, const std::filesystem::path& folder);

}  // namespace opbench
