#include "dump/dump_source.h"

#include <fmt/format.h>

#include <cstring>
#include <list>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include "dump/arrays/array_file.h"
#include "dump/dump_file.h"
#include "dump/source_listing.h"
#include "tensor/error.h"
#include "tensor/utf8.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

std::int64_t size_of_file(const fs::path& path) {
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  return error ? 0 : static_cast<std::int64_t>(bytes);
}

/// The most recently read files of arrays, kept open. A source may have more files than a process
/// may open.
class OpenArrays {
 public:
  std::shared_ptr<ArrayFile> open(int number, const fs::path& path) {
    constexpr std::size_t kMost = 16;  // open files
    const std::lock_guard lock(mutex_);
    for (auto at = files_.begin(); at != files_.end(); ++at) {
      if (at->first != number) continue;
      files_.splice(files_.begin(), files_, at);
      return at->second;
    }
    files_.emplace_front(number, std::make_shared<ArrayFile>(path));
    if (files_.size() > kMost) files_.pop_back();
    return files_.front().second;
  }

 private:
  std::mutex mutex_;
  std::list<std::pair<int, std::shared_ptr<ArrayFile>>> files_;
};

}  // namespace

struct DumpSource::Impl {
  Impl(const std::string& called, const Catalogue& catalogue, std::int64_t bytes, Read from)
      : name(called), read_elsewhere(std::move(from)) {
    listing.catalogue = catalogue;
    listing.bytes = bytes;
  }

  explicit Impl(const fs::path& path) : name(path.string()) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
      add_folder(listing, path);
      add_dumps(path);
      check_not_empty();
      sort_records(listing.catalogue);
    } else if (has_array_suffix(path)) {
      // A damaged file is an error if it is the only file.
      is_one_array = opbench::is_one_array(ArrayFile(path), path);
      // A single array needs no name: it is compared with the only array of the other source.
      add_array_file(listing, path, is_one_array ? "array" : "");
    } else {
      dumps.emplace_back(path);
      is_one_dump = true;
      listing.bytes = size_of_file(path);
    }
  }

  // Adds dumps in folders. A dump's name is used only if there are several.
  void add_dumps(const fs::path& root) {
    const auto& files = listing.dump_files;
    for (std::size_t i = 0; i < files.size(); ++i) {
      const fs::path folder = files[i].parent_path();
      const bool has_neighbour = (i > 0 && files[i - 1].parent_path() == folder) ||
                                 (i + 1 < files.size() && files[i + 1].parent_path() == folder);
      const fs::path named = has_neighbour ? folder / files[i].stem() : folder;
      const std::string relative = named.lexically_relative(root).string();
      try {
        DumpFile dump(files[i]);
        add_dump(dump, relative == "." ? "" : relative + "/");
        dumps.push_back(std::move(dump));
      } catch (const Error& error) {
        listing.catalogue.problems.push_back(error.what());
        ++listing.catalogue.damaged;
      }
    }
  }

  void add_dump(DumpFile& dump, const std::string& prefix) {
    const int number = static_cast<int>(dumps.size());
    const auto place_of = [&](const DumpEntry& entry) {
      SourcePlace place;
      place.dump_file = number;
      place.original = entry;
      return place;
    };
    for (const DumpRecord& record : dump.records()) {
      DumpRecord& made = listing.record(prefix + record.op, record.seq_text);
      made.notes = record.notes;
      made.has_input_group = record.has_input_group;
      for (const DumpEntry& entry : record.entries) {
        listing.add(prefix + record.op, record.seq_text, entry.side, entry.name, entry,
                    place_of(entry));
      }
    }
    for (const DumpEntry& entry : dump.strays()) {
      listing.add_stray(fmt::format("/{}{}", prefix, entry.path.substr(1)), entry, place_of(entry));
    }
    for (const std::string& problem : dump.problems()) {
      listing.catalogue.problems.push_back(problem);
    }
    listing.catalogue.damaged += dump.damaged();
    listing.bytes += size_of_file(dump.name());
  }

  void check_not_empty() const {
    const Catalogue& found = listing.catalogue;
    if (!found.records.empty() || !found.strays.empty()) return;
    if (!found.problems.empty()) throw Error(found.problems.front());
    throw Error(
        fmt::format("{} holds no dump: no .h5, .npy, .npz or .pt file, and no dump.json; convert "
                    "dump files of a device first: opbench convert -d DIR -out NPY",
                    name));
  }

  void read(const DumpEntry& entry, ElementRange range, void* to) {
    if (!entry.problem.empty()) {
      throw Error(fmt::format("{}: {}: {}", name, printable(entry.path), entry.problem));
    }
    if (read_elsewhere) {
      if (stop && stop()) {
        throw Error(fmt::format("stopped while reading {}", printable(entry.path)));
      }
      return read_elsewhere(entry, range, to);
    }
    const SourcePlace& place = listing.places.at(entry.path);
    if (place.dump_file >= 0) {
      return dumps[static_cast<std::size_t>(place.dump_file)].read(place.original, range, to);
    }
    if (place.array_file < 0) return copy_value(entry, place, range, to);
    if (stop && stop()) throw Error(fmt::format("stopped while reading {}", printable(entry.path)));
    const fs::path& file = listing.array_files[static_cast<std::size_t>(place.array_file)];
    const auto arrays = opened.open(place.array_file, file);
    const auto& entries = arrays->entries();
    const bool is_same = place.index < entries.size() &&
                         entries[place.index].desc == place.original.desc &&
                         entries[place.index].stored == place.original.stored;
    if (!is_same) throw RunError(fmt::format("{} was changed while it was read", file.string()));
    arrays->read(entries[place.index], range, to);
  }

  bool is_hole(const DumpEntry& entry, ElementRange range) {
    const auto found = listing.places.find(entry.path);
    if (read_elsewhere || found == listing.places.end()) return false;
    const SourcePlace& place = found->second;
    if (place.dump_file >= 0) {
      return dumps[static_cast<std::size_t>(place.dump_file)].is_hole(place.original, range);
    }
    if (place.array_file < 0) return false;
    const auto number = static_cast<std::size_t>(place.array_file);
    const auto arrays = opened.open(place.array_file, listing.array_files[number]);
    // If the file was changed, `read` reports it.
    if (place.index >= arrays->entries().size()) return false;
    const DumpEntry& now = arrays->entries()[place.index];
    return now.desc == place.original.desc && now.stored == place.original.stored &&
           arrays->is_hole(now, range);
  }

  void copy_value(const DumpEntry& entry, const SourcePlace& place, ElementRange range,
                  void* to) const {
    const std::int64_t count = entry.desc.elements();
    if (range.first < 0 || range.count < 0 || range.count > count - range.first) {
      throw Error(fmt::format("{}: {} has {}", name, printable(entry.path),
                              count == 1 ? "one element" : fmt::format("{} elements", count)));
    }
    const std::size_t size = size_of(entry.stored);
    std::memcpy(to, place.value.data() + static_cast<std::size_t>(range.first) * size,
                static_cast<std::size_t>(range.count) * size);
  }

  std::string name;
  bool is_one_array = false, is_one_dump = false;
  SourceListing listing;
  std::vector<DumpFile> dumps;
  OpenArrays opened;
  std::function<bool()> stop;
  Read read_elsewhere;
};

DumpSource::DumpSource(const fs::path& path) : impl_(std::make_unique<Impl>(path)) {}
DumpSource::DumpSource(const std::string& name, const Catalogue& catalogue, std::int64_t bytes,
                       Read read)
    : impl_(std::make_unique<Impl>(name, catalogue, bytes, std::move(read))) {}
DumpSource::DumpSource(DumpSource&&) noexcept = default;
DumpSource::~DumpSource() = default;

const std::string& DumpSource::name() const { return impl_->name; }
std::int64_t DumpSource::bytes() const { return impl_->listing.bytes; }
bool DumpSource::is_one_array() const { return impl_->is_one_array; }

const std::vector<DumpRecord>& DumpSource::records() {
  return impl_->is_one_dump ? impl_->dumps.front().records() : impl_->listing.catalogue.records;
}

const std::vector<DumpEntry>& DumpSource::strays() {
  return impl_->is_one_dump ? impl_->dumps.front().strays() : impl_->listing.catalogue.strays;
}

bool DumpSource::has_attachments() {
  return impl_->is_one_dump && !impl_->dumps.front().attachments().empty();
}
const std::vector<std::string>& DumpSource::problems() {
  return impl_->is_one_dump ? impl_->dumps.front().problems() : impl_->listing.catalogue.problems;
}

std::int64_t DumpSource::damaged() {
  return impl_->is_one_dump ? impl_->dumps.front().damaged() : impl_->listing.catalogue.damaged;
}

void DumpSource::read(const DumpEntry& entry, ElementRange range, void* to) {
  if (impl_->is_one_dump) return impl_->dumps.front().read(entry, range, to);
  impl_->read(entry, range, to);
}

bool DumpSource::is_hole(const DumpEntry& entry, ElementRange range) {
  if (impl_->is_one_dump) return impl_->dumps.front().is_hole(entry, range);
  return impl_->is_hole(entry, range);
}

void DumpSource::stop_when(std::function<bool()> stop) {
  for (DumpFile& dump : impl_->dumps) dump.stop_when(stop);
  impl_->stop = std::move(stop);
}

}  // namespace opbench
