#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dump/dump_types.h"

namespace opbench {

/// Copies objects of an HDF5 file to the same paths of a new file, like `h5copy -p`: attributes,
/// dtypes, layout and filters are kept, and the groups above are created. Objects are given by
/// their paths ("/softplus/2"); no path may be below another. A complete copy replaces the file
/// `to`. After a failure, or once `stop` is true, `to` is unchanged. The library runs in a separate
/// process.
/// Errors: throws Error if the file or an object in it cannot be read, RunError if `to` cannot be
/// written.
void extract(const std::filesystem::path& from, const std::filesystem::path& to,
             const std::vector<std::string>& objects, const std::function<bool()>& stop = {});

/// Content of a dump, and its name in messages.
struct DumpListing {
  std::string name;
  std::span<const DumpRecord> records;
  std::span<const DumpEntry> strays;
};

/// A user's selection.
struct DumpQuery {
  std::vector<std::string> paths;  ///< "/softplus/2", "softplus/2/", "/a/1/input/self"; empty: all
  std::function<bool(std::string_view)>
      only;  ///< predicate on an operator's name or a tensor's path; may be empty
};

/// Selected entries of a record; all of them if the query names no entry.
struct SelectedRecord {
  const DumpRecord* record = nullptr;
  std::vector<const DumpEntry*> entries;
};

struct DumpSelection {
  std::vector<SelectedRecord> records;   ///< in execution order
  std::vector<const DumpEntry*> strays;  ///< by path
};

/// True if `path` is `ancestor` or below it.
bool is_at_or_below(std::string_view path, std::string_view ancestor);

/// Normalises paths: one slash in front, no slash at the end. Removes duplicates and paths below
/// another path. Errors: throws Error, with similar paths, for a path that is not in the dump.
std::vector<std::string> find_paths(const DumpListing& dump, const std::vector<std::string>& paths);

/// Returns the selected records and strays. Errors: as for find_paths.
DumpSelection select(const DumpListing& dump, const DumpQuery& query);

}  // namespace opbench
