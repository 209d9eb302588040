#include "dump/arrays/numpy_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "dump/arrays/npy_header.h"
#include "tensor/error.h"

namespace opbench {
namespace {

void add(ArrayList& list, const std::string& name, const NpyHeader& header, int member,
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

// Reads one piece after the other from where `read` finds `bytes` bytes.
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

}  // namespace

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
  add(list, std::filesystem::path(file.name()).stem().string(), header, -1, file.bytes());
  return list;
}

ArrayList list_npz(ZipFile& zip) {
  ArrayList list;
  std::set<std::string> names;
  for (std::size_t i = 0; i < zip.members().size(); ++i) {
    const ZipMember& member = zip.members()[i];
    std::string name = member.name;
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    if (name.empty()) name = "''";
    if (!names.insert(name).second) {
      list.problems.push_back(fmt::format("'{}' is there twice", name));
    } else if (!member.name.ends_with(".npy")) {
      list.problems.push_back(fmt::format("'{}' is no .npy file", name));
    } else if (!member.problem.empty()) {
      list.add_problem(name, member.problem);
    } else {
      try {
        const NpyHeader header =
            header_by(member.bytes, [&](std::int64_t place, std::size_t count, void* to) {
              zip.read(i, place, count, to);
            });
        add(list, name, header, static_cast<int>(i), member.bytes);
      } catch (const Error& error) {
        list.add_problem(name, error.what());
      }
    }
  }
  return list;
}

}  // namespace opbench
