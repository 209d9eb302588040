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

/// Place of an entry's elements in a source.
struct SourcePlace {
  int array_file = -1;      ///< index in SourceListing::array_files; else -1
  int dump_file = -1;       ///< index in SourceListing::dump_files; else -1
  std::string value;        ///< bytes of a value in dump.json
  std::size_t index = 0;    ///< index of the array in its file
  DumpEntry original = {};  ///< entry of the file before renaming
};

/// Content of the files of a source.
struct SourceListing {
  std::vector<std::filesystem::path> array_files, dump_files;
  Catalogue catalogue;
  std::unordered_map<std::string, SourcePlace> places;  ///< by the entry's path
  std::int64_t bytes = 0;

  /// Adds an entry at a path, which gets a number if it exists already. `add` puts it into the
  /// record of that operator and number, which is created if necessary.
  void add_stray(const std::string& path, DumpEntry entry, SourcePlace place);
  void add(const std::string& op, const std::string& seq, Side side, const std::string& name,
           DumpEntry entry, SourcePlace place);
  DumpRecord& record(const std::string& op, const std::string& seq);

 private:
  void keep(DumpEntry& entry, const std::string& path, SourcePlace place);
  std::map<std::pair<std::string, std::string>, std::size_t> records_;
};

/// True for a file of one array without a name: .npy, or .pt of a tensor.
bool is_one_array(const ArrayFile& arrays, const std::filesystem::path& file);

/// Adds all arrays of a file under `stem`, the path below the source without its extension.
/// Unreadable arrays become problems.
void add_array_file(SourceListing& listing, const std::filesystem::path& file,
                    const std::string& stem);

/// Adds the tensors of an msprobe dump.json. `prefix` is "" or "step0/rank0/". Errors: throws Error
/// "{file}: ..." if it is not such a file.
void add_msprobe(SourceListing& listing, const std::filesystem::path& file,
                 const std::string& prefix);

/// Adds the files of a folder and of its subfolders.
void add_folder(SourceListing& listing, const std::filesystem::path& folder);

}  // namespace opbench
