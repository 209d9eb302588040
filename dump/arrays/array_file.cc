#include "dump/arrays/array_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string_view>

#include "dump/arrays/array_list.h"
#include "dump/arrays/npy_header.h"
#include "dump/arrays/torch_list.h"
#include "dump/arrays/zip_file.h"
#include "dump/catalogue.h"
#include "dump/regular_file.h"
#include "dump/strided_read.h"
#include "tensor/error.h"
#include "tensor/utf8.h"

namespace opbench {
namespace {

void add_npy(ArrayList& list, const std::string& name, const NpyHeader& header, int member,
             std::int64_t bytes) {
  const auto offset = static_cast<std::int64_t>(header.bytes);
  list.add(name, header.type, header.shape,
           header.is_fortran ? column_major_strides(header.shape) : row_major_strides(header.shape),
           {member, offset, header.is_swapped}, bytes - offset);
  DumpEntry& entry = list.entries.back();
  if (!entry.problem.empty()) return;
  const std::int64_t data = entry.desc.elements() * static_cast<std::int64_t>(size_of(header.type));
  if (const std::int64_t rest = bytes - offset - data; rest > 0) {
    entry.warning = fmt::format("{} bytes follow its data", rest);
  }
}

// Calls `read` for one piece after the other. `read` returns how many bytes it supplied.
template <class Read>
NpyHeader header_by(std::int64_t bytes, Read&& read) {
  std::int64_t place = 0;
  return read_npy_header([&](void* to, std::size_t count) {
    const std::size_t got = std::min(count, static_cast<std::size_t>(bytes - place));
    read(place, got, to);
    place += static_cast<std::int64_t>(got);
    return got;
  });
}

// Lists the array of a .npy file. Errors: throws Error like `read_npy_header`, with the file's
// name.
ArrayList list_npy(const RegularFile& file) {
  NpyHeader header;
  try {
    header = header_by(file.bytes(), [&](std::int64_t place, std::size_t count, void* to) {
      file.read(place, count, to);
    });
  } catch (const RunError&) {
    throw;
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", file.name(), error.what()));
  }
  ArrayList list;
  add_npy(list, std::filesystem::path(file.name()).stem().string(), header, -1, file.bytes());
  return list;
}

// Lists the arrays of a .npz file. A member that is damaged or not an array is listed with its
// problem.
ArrayList list_npz(ZipFile& zip) {
  ArrayList list;
  std::set<std::string> names;
  for (std::size_t i = 0; i < zip.members().size(); ++i) {
    const ZipMember& member = zip.members()[i];
    std::string name = member.name;
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    if (name.empty()) name = "''";
    if (!names.insert(name).second) {
      list.problems.push_back(fmt::format("'{}' occurs twice", name));
    } else if (!member.name.ends_with(".npy")) {
      list.problems.push_back(fmt::format("'{}' is not a .npy file", name));
    } else if (!member.problem.empty()) {
      list.add_problem(name, member.problem);
    } else {
      try {
        const NpyHeader header =
            header_by(member.bytes, [&](std::int64_t place, std::size_t count, void* to) {
              zip.read(i, place, count, to);
            });
        add_npy(list, name, header, static_cast<int>(i), member.bytes);
      } catch (const Error& error) {
        list.add_problem(name, error.what());
      }
    }
  }
  return list;
}

namespace fs = std::filesystem;

void swap_bytes(void* elements, std::int64_t count, std::size_t bytes) {
  auto* next = static_cast<std::byte*>(elements);
  for (std::int64_t i = 0; i < count; ++i, next += bytes) std::reverse(next, next + bytes);
}

bool is_complex(StoredType type) { return type == StoredType::c64 || type == StoredType::c128; }

}  // namespace

struct ArrayFile::Impl {
  explicit Impl(const fs::path& path) : file(path) {
    std::array<char, 4> bytes{};
    const auto count = static_cast<std::size_t>(std::min<std::int64_t>(4, file.bytes()));
    file.read(0, count, bytes.data());
    const std::string_view start(bytes.data(), count);
    if (start == "PK\x03\x04" || start.starts_with("PK\x05\x06")) {
      zip.emplace(file);
      list = is_torch_zip(*zip) ? list_torch(*zip, file, path.stem().string()) : list_npz(*zip);
      bound_expansion();
    } else if (start.starts_with('\x80')) {
      list = list_torch(file, path.stem().string());
    } else {
      list = list_npy(file);
    }
    file.check_unchanged();
  }

  void bound_expansion() {
    Expansion expansion(file.bytes());
    for (std::size_t i = 0; i < list.entries.size(); ++i) {
      if (!list.entries[i].problem.empty()) continue;
      const ZipMember& member = zip->members()[static_cast<std::size_t>(list.places[i].member)];
      if (member.offset < 0) expansion.take(list.entries[i]);
    }
  }

  const ArrayPlace& place_of(const DumpEntry& entry) const {
    const std::less<> comes_before;
    const DumpEntry* const first = list.entries.data();
    if (comes_before(&entry, first) || !comes_before(&entry, first + list.entries.size())) {
      throw std::logic_error("the entry is not in this file");
    }
    return list.places[static_cast<std::size_t>(&entry - first)];
  }

  void check_range(const DumpEntry& entry, ElementRange range) const {
    const std::int64_t elements = entry.desc.elements();
    if (range.first >= 0 && range.count >= 0 && range.first <= elements &&
        range.count <= elements - range.first) {
      return;
    }
    throw Error(fmt::format("{}: {}: elements [{}, {} + {}) are out of range, it has {}",
                            file.name(), printable(entry.path), range.first, range.first,
                            range.count, elements));
  }

  void read_places(const DumpEntry& entry, const ArrayPlace& place, ElementRange places, void* to) {
    const std::size_t bytes = size_of(entry.stored);
    const std::int64_t offset = place.offset + places.first * static_cast<std::int64_t>(bytes);
    const std::size_t count = static_cast<std::size_t>(places.count) * bytes;
    if (place.member < 0) {
      file.read(offset, count, to);
    } else {
      zip->read(static_cast<std::size_t>(place.member), offset, count, to);
    }
    if (!place.is_swapped) return;
    const int parts = is_complex(entry.stored) ? 2 : 1;
    swap_bytes(to, places.count * parts, bytes / static_cast<std::size_t>(parts));
  }

  RegularFile file;
  std::optional<ZipFile> zip;
  ArrayList list;
  PanelReader panels;
};

ArrayFile::ArrayFile(const fs::path& path) : impl_(std::make_unique<Impl>(path)) {}
ArrayFile::ArrayFile(ArrayFile&&) noexcept = default;
ArrayFile::~ArrayFile() = default;

const std::string& ArrayFile::name() const { return impl_->file.name(); }
const std::vector<DumpEntry>& ArrayFile::entries() const { return impl_->list.entries; }
const std::vector<std::string>& ArrayFile::problems() const { return impl_->list.problems; }

void ArrayFile::read(const DumpEntry& entry, ElementRange range, void* to) {
  const ArrayPlace& place = impl_->place_of(entry);
  if (!entry.problem.empty()) {
    throw Error(fmt::format("{}: {}: {}", name(), printable(entry.path), entry.problem));
  }
  impl_->check_range(entry, range);
  const auto read_places = [&](ElementRange places, void* piece) {
    impl_->read_places(entry, place, places, piece);
  };
  if (entry.is_strided) {
    impl_->panels.read(entry, range, read_places, to);
  } else {
    read_places(range, to);
  }
  impl_->file.check_unchanged();
}

bool ArrayFile::is_hole(const DumpEntry& entry, ElementRange range) const {
  const ArrayPlace& place = impl_->place_of(entry);
  if (!entry.problem.empty() || entry.is_strided || place.member >= 0) return false;
  const auto bytes = static_cast<std::int64_t>(size_of(entry.stored));
  return impl_->file.is_hole(place.offset + range.first * bytes, range.count * bytes);
}

bool has_array_suffix(const fs::path& path) {
  constexpr std::array<std::string_view, 6> kSuffixes = {".npy", ".npz",    ".pt",
                                                         ".pth", ".pt.tar", ".pth.tar"};
  const std::string name = path.filename().string();
  return std::any_of(kSuffixes.begin(), kSuffixes.end(),
                     [&](std::string_view suffix) { return name.ends_with(suffix); });
}

}  // namespace opbench
