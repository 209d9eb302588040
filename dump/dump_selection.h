#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dump/dump_types.h"

namespace opbench {

/// Copies objects of an HDF5 file, named by their paths ("/softplus/2"), none below another, to the
/// same paths of a new one, as `h5copy -p` does: attributes, dtypes, layout and filters stay, the
/// groups above them are made anew. What stood at `to` before is replaced when all is there, and
/// stays if anything fails or once `stop` is true. The library runs in a process of its own.
/// Errors: throws Error if the file or an object in it cannot be read, RunError if `to` cannot be
/// written.
void extract(const std::filesystem::path& from, const std::filesystem::path& to,
             const std::vector<std::string>& objects, const std::function<bool()>& stop = {});

/// What a dump holds, and what messages call it.
struct DumpListing {
  std::string name;
  std::span<const DumpRecord> records;
  std::span<const DumpEntry> strays;
};

/// What users ask for.
struct DumpQuery {
  std::vector<std::string> paths;  ///< "/softplus/2", "softplus/2/", "/a/1/input/self"; empty: all
  std::function<bool(std::string_view)> only;  ///< on an operator's name or a tensor's path, if any
};

/// Some entries of a record; all of them where none were asked for.
struct SelectedRecord {
  const DumpRecord* record = nullptr;
  std::vector<const DumpEntry*> entries;
};

struct DumpSelection {
  std::vector<SelectedRecord> records;   ///< in the order in which they ran
  std::vector<const DumpEntry*> strays;  ///< by path
};

/// True if `path` is `ancestor`, or stands below it.
bool is_at_or_below(std::string_view path, std::string_view ancestor);

/// Paths as files have them: one slash in front, none at the end; each once, and none that stands
/// below another one. Errors: throws Error for one that is not in the dump, with what is near it.
std::vector<std::string> find_paths(const DumpListing& dump, const std::vector<std::string>& paths);

/// What is asked for. Errors: as find_paths.
DumpSelection select(const DumpListing& dump, const DumpQuery& query);

}  // namespace opbench
