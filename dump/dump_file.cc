#include "dump/dump_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

#include "dump/catalogue.h"
#include "dump/dump_types.h"
#include "dump/hdf5/server.h"
#include "dump/reader_process.h"
#include "dump/regular_file.h"
#include "dump/strided_read.h"
#include "tensor/error.h"
#include "tensor/utf8.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

// Elements of one request to the reading process. Limits its memory.
constexpr std::int64_t kMostAtOnce = 512 * 1024;

// After each end a new process is started. A hang costs another half minute.
constexpr int kMostEnds = 1000, kMostHangs = 3;

// True if the HDF5 library must unpack the data or fill in one value.
bool needs_library(const DumpEntry& entry) {
  return entry.problem.empty() && entry.kind == EntryKind::tensor && entry.offset < 0;
}

}  // namespace

struct DumpFile::Impl {
  explicit Impl(const fs::path& path) : file(path), name(file.name()), process(new_process()) {}

  // The process lists the file first, unless the list exists.
  std::unique_ptr<ReaderProcess> new_process() {
    return std::make_unique<ReaderProcess>(
        std::vector{file.descriptor()}, name,
        [this](MessageSocket& socket, const std::string& path) {
          hdf5::serve(socket, path, name, !listed);
        },
        stop);
  }

  const Catalogue& catalogue() {
    const std::lock_guard lock(mutex);
    if (!failure.empty()) throw Error(failure);
    if (listed) return *listed;
    try {
      listed = process->catalogue(file.bytes());
      bound_expansion();
      take_attachments();
    } catch (const Error& error) {
      file.check_unchanged();  // a changed file explains any error
      failure = error.what();
      throw;
    }
    file.check_unchanged();
    end_process();
    return *listed;
  }

  void bound_expansion() {
    Expansion expansion(file.bytes());
    const auto take = [&](DumpEntry& entry) {
      if (needs_library(entry)) expansion.take(entry);
    };
    for (DumpRecord& record : listed->records) {
      for (DumpEntry& entry : record.entries) take(entry);
    }
    for (DumpEntry& entry : listed->strays) take(entry);
  }

  void take_attachments() {
    const auto is_one = [](const DumpRecord& record) { return record.op == kAttachmentsOp; };
    for (DumpRecord& record : listed->records) {
      if (!is_one(record)) continue;
      std::move(record.entries.begin(), record.entries.end(), std::back_inserter(attachments));
    }
    std::erase_if(listed->records, is_one);
  }

  // Ends a process that no tensor needs, because it holds memory and HDF5 caches.
  void end_process() {
    const auto holds_one = [&](const DumpRecord& record) {
      return std::any_of(record.entries.begin(), record.entries.end(), needs_library);
    };
    if (std::any_of(listed->records.begin(), listed->records.end(), holds_one)) return;
    if (std::any_of(listed->strays.begin(), listed->strays.end(), needs_library)) return;
    const std::lock_guard lock(process_mutex);
    process.reset();
  }

  void check_range(const DumpEntry& entry, ElementRange range) const {
    const std::int64_t elements = entry.desc.elements();
    if (range.first >= 0 && range.count >= 0 && range.first <= elements &&
        range.count <= elements - range.first) {
      return;
    }
    throw Error(fmt::format("{}: {}: elements [{}, {} + {}) are out of range, it has {}", name,
                            printable(entry.path), range.first, range.first, range.count,
                            elements));
  }

  // Reads elements by their place in the file.
  void read_places(const DumpEntry& entry, ElementRange places, void* to) {
    if (stop && stop()) throw Error(fmt::format("stopped while reading {}", printable(entry.path)));
    const std::size_t bytes = size_of(entry.stored);
    if (entry.offset >= 0) {
      return file.read(entry.offset + places.first * static_cast<std::int64_t>(bytes),
                       static_cast<std::size_t>(places.count) * bytes, to);
    }
    for (std::int64_t done = 0; done < places.count; done += kMostAtOnce) {
      const std::int64_t count = std::min(places.count - done, kMostAtOnce);
      read_by_process(entry, {places.first + done, count},
                      static_cast<std::byte*>(to) + static_cast<std::size_t>(done) * bytes);
    }
  }

  // A tensor that ends the process is not read. A new process reads the others.
  void read_by_process(const DumpEntry& entry, ElementRange places, void* to) {
    const std::lock_guard lock(process_mutex);
    if (!process) {
      if (ended >= kMostEnds || hung >= kMostHangs) {
        throw Error(
            fmt::format("cannot read {}: {} processes that read it have ended; no other "
                        "is started",
                        name, ended));
      }
      process = new_process();
    }
    try {
      process->read(entry, places, to);
    } catch (const ReaderEnded& error) {
      process.reset();
      ++ended;
      hung += error.was_hung;
      throw;
    }
  }

  RegularFile file;
  const std::string& name;
  std::function<bool()> stop;
  std::optional<Catalogue> listed;
  std::mutex process_mutex;
  std::unique_ptr<ReaderProcess> process;  // null after its end
  int ended = 0, hung = 0;                 // counts of processes
  std::mutex mutex;
  std::vector<DumpEntry> attachments;
  std::string failure;  // why the catalogue is missing
  PanelReader panels;
};

DumpFile::DumpFile(const fs::path& path) : impl_(std::make_unique<Impl>(path)) {}
DumpFile::DumpFile(DumpFile&&) noexcept = default;
DumpFile::~DumpFile() = default;

const std::string& DumpFile::name() const { return impl_->name; }

const std::vector<DumpRecord>& DumpFile::records() { return impl_->catalogue().records; }
const std::vector<DumpEntry>& DumpFile::strays() { return impl_->catalogue().strays; }
const std::vector<DumpEntry>& DumpFile::attachments() {
  impl_->catalogue();
  return impl_->attachments;
}
const std::vector<std::string>& DumpFile::problems() { return impl_->catalogue().problems; }
std::int64_t DumpFile::damaged() { return impl_->catalogue().damaged; }

void DumpFile::stop_when(std::function<bool()> stop) { impl_->stop = std::move(stop); }

bool DumpFile::is_hole(const DumpEntry& entry, ElementRange range) const {
  if (!entry.problem.empty() || entry.is_strided || entry.offset < 0) return false;
  const auto bytes = static_cast<std::int64_t>(size_of(entry.stored));
  return impl_->file.is_hole(entry.offset + range.first * bytes, range.count * bytes);
}

void DumpFile::read(const DumpEntry& entry, ElementRange range, void* to) {
  if (!entry.problem.empty()) {
    throw Error(fmt::format("{}: {}: {}", name(), printable(entry.path), entry.problem));
  }
  impl_->check_range(entry, range);
  const auto read_places = [&](ElementRange places, void* piece) {
    impl_->read_places(entry, places, piece);
  };
  try {
    if (entry.is_strided) {
      impl_->panels.read(entry, range, read_places, to);
    } else {
      read_places(range, to);
    }
  } catch (const Error&) {
    impl_->file.check_unchanged();  // a changed file explains any error
    throw;
  }
  impl_->file.check_unchanged();
}

}  // namespace opbench
