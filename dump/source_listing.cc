#include "dump/source_listing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <system_error>
#include <utility>

#include "dump/arrays/array_file.h"
#include "dump/dump_types.h"
#include "tensor/error.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

// Identification of a record, derived from a path or a name.
struct RecordPlace {
  std::string op, seq, name;
  Side side = Side::other;
};

Side side_of(std::string_view text) {
  return text == "input" ? Side::input : text == "output" ? Side::output : Side::other;
}

// Parses "op/7/input/self", with folders of steps and ranks in front.
bool is_as_in_hdf5(const std::vector<std::string>& parts, RecordPlace& place) {
  for (std::size_t at = 1; at + 2 < parts.size(); ++at) {
    if (!is_digits(parts[at]) || side_of(parts[at + 1]) == Side::other) continue;
    const std::span all(parts);
    place = {fmt::format("{}", fmt::join(all.first(at), "/")), parts[at],
             fmt::format("{}", fmt::join(all.subspan(at + 2), "/")), side_of(parts[at + 1])};
    return true;
  }
  return false;
}

// Parses "Conv2D.conv1.12.5.1600000000000000.input.0", msaccucmp's name of a converted tensor. A
// shape or format may follow the number.
bool is_of_device(const std::string& stem, RecordPlace& place) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at <= stem.size();) {
    const std::size_t dot = std::min(stem.find('.', at), stem.size());
    words.push_back(stem.substr(at, dot - at));
    at = dot + 1;
  }
  constexpr std::size_t kTypeNameTaskTime = 4;
  for (std::size_t at = kTypeNameTaskTime; at + 1 < words.size(); ++at) {
    const bool is_one = side_of(words[at]) != Side::other && is_digits(words[at + 1]) &&
                        is_digits(words[at - 1]) && is_digits(words[2]);
    if (!is_one) continue;
    place = {words[0] + "." + words[1], words[at - 1], words[at + 1], side_of(words[at])};
    return true;
  }
  return false;
}

}  // namespace

DumpRecord& SourceListing::record(const std::string& op, const std::string& seq) {
  const auto [found, is_new] = records_.try_emplace({op, seq}, catalogue.records.size());
  if (is_new) {
    DumpRecord record{op, seq, {}, {}, {}};
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(seq.data(), seq.data() + seq.size(), number);
    if (error == std::errc() && end == seq.data() + seq.size()) record.seq = number;
    catalogue.records.push_back(std::move(record));
  }
  return catalogue.records[found->second];
}

void SourceListing::keep(DumpEntry& entry, const std::string& path, SourcePlace place) {
  entry.path = path;
  for (int again = 2; places.contains(entry.path); ++again) {
    entry.path = fmt::format("{}.{}", path, again);
  }
  places.emplace(entry.path, std::move(place));
}

void SourceListing::add_stray(const std::string& path, DumpEntry entry, SourcePlace place) {
  keep(entry, path, std::move(place));
  entry.name = entry.path.substr(entry.path.rfind('/') + 1);
  catalogue.strays.push_back(std::move(entry));
}

void SourceListing::add(const std::string& op, const std::string& seq, Side side,
                        const std::string& name, DumpEntry entry, SourcePlace place) {
  const char* group = side == Side::input ? "input/" : side == Side::output ? "output/" : "";
  const std::string begin = fmt::format("/{}/{}/{}", op, seq, group);
  keep(entry, begin + name, std::move(place));
  entry.name = entry.path.substr(begin.size());
  entry.side = side;
  DumpRecord& owner = record(op, seq);
  owner.has_input_group |= side == Side::input;
  owner.entries.push_back(std::move(entry));
}

bool is_one_array(const ArrayFile& arrays, const fs::path& file) {
  return arrays.entries().size() == 1 && arrays.entries().front().name == file.stem().string();
}

void add_array_file(SourceListing& listing, const fs::path& file, const std::string& stem) {
  try {
    ArrayFile arrays(file);
    const int number = static_cast<int>(listing.array_files.size());
    listing.array_files.push_back(file);
    std::error_code ignored;
    listing.bytes += static_cast<std::int64_t>(fs::file_size(file, ignored));
    const bool is_alone = is_one_array(arrays, file);
    for (std::size_t i = 0; i < arrays.entries().size(); ++i) {
      const DumpEntry& entry = arrays.entries()[i];
      SourcePlace place;
      place.array_file = number;
      place.index = i;
      place.original = entry;
      const std::string path = is_alone       ? stem
                               : stem.empty() ? entry.name
                                              : fmt::format("{}/{}", stem, entry.name);
      const std::string last = path.substr(path.rfind('/') + 1);
      const std::string folder = path.substr(0, path.size() - last.size());
      RecordPlace found;
      if (is_as_in_hdf5(split_components(path), found)) {
        listing.add(found.op, found.seq, found.side, found.name, entry, std::move(place));
      } else if (is_of_device(last, found)) {
        listing.add(folder + found.op, found.seq, found.side, found.name, entry, std::move(place));
      } else {
        listing.add_stray("/" + path, entry, std::move(place));
      }
    }
    for (const std::string& problem : arrays.problems()) {
      listing.catalogue.problems.push_back(problem);
    }
  } catch (const Error& error) {
    listing.catalogue.problems.push_back(error.what());
    ++listing.catalogue.damaged;
  }
}

namespace {

/// Walks folders in the order of their names.
class FolderWalk {
 public:
  FolderWalk(SourceListing& listing, const fs::path& root) : listing_(listing), root_(root) {}

  void visit(const fs::path& folder, int depth) {
    constexpr int kDeepestFolder = 32;
    if (depth > kDeepestFolder) {
      throw Error(fmt::format("{}: folders nested too deep", root_.string()));
    }
    const std::vector<fs::path> names = names_in(folder);
    const fs::path json = folder / "dump.json";
    if (std::find(names.begin(), names.end(), json) != names.end()) {
      return add_msprobe(listing_, json, prefix(folder));
    }
    for (const fs::path& path : names) {
      std::error_code ignored;
      // Links to folders may form cycles.
      if (fs::is_directory(fs::symlink_status(path, ignored))) {
        visit(path, depth + 1);
      } else if (has_array_suffix(path)) {
        add_array_file(listing_, path, prefix(folder) + path.stem().string());
      } else if (path.extension() == ".h5" || path.extension() == ".hdf5") {
        listing_.dump_files.push_back(path);
      }
    }
  }

 private:
  std::vector<fs::path> names_in(const fs::path& folder) {
    constexpr std::size_t kMostFiles = 1'000'000;
    std::error_code error;
    std::vector<fs::path> names;
    for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator();
         at.increment(error)) {
      names.push_back(at->path());
      if (++files_ > kMostFiles) {
        throw Error(fmt::format("{}: more than {} files", root_.string(), kMostFiles));
      }
    }
    if (error) {
      throw Error(fmt::format("cannot open {}: {}", folder.string(), error.message()));
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  // Returns "step0/rank1/"; "" at the root.
  std::string prefix(const fs::path& folder) const {
    const std::string relative = folder.lexically_relative(root_).string();
    return relative == "." || relative.empty() ? "" : relative + "/";
  }

  SourceListing& listing_;
  const fs::path& root_;
  std::size_t files_ = 0;
};

}  // namespace

void add_folder(SourceListing& listing, const fs::path& folder) {
  FolderWalk(listing, folder).visit(folder, 0);
}

}  // namespace opbench
